//! Base clusterings: many clusterings of one table.
