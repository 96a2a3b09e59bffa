//! External indices, soft comparison, optimal matching and alignment of clusterings.
