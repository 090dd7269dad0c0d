//! The fabric plan: addresses, uSIDs, routes and path tables as functions of position.
