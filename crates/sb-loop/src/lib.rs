//! The built-in model loop: providers as data, tools.
