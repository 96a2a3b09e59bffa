//! What every consensus method is held to, for tests only.
