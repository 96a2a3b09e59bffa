//! Evidence accumulation: linkage on the co-association.
