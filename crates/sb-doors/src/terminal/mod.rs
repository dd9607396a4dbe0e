//! The terminal: `talk`, as a client of the home's socket.
