"""Register allocation: liveness, intervals with lifetime holes, linear scan, parallel moves, and their checker."""
