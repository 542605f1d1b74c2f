"""The sections of the ClassAlloc report, each from the run's data to what its template prints."""
