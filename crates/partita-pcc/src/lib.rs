//! Probabilistic consensus from pairwise evidence: PEACE and PCC.
