//! Adapters broken on purpose: for each law one that it must catch.
