package dev.podcache.chaos;

/** A broken promise of one object: which, and how. */
record Violation(Shape shape, CachedObject subject, String what) {}
