package dev.podcache.chaos;

/** A broken promise: which, and how. */
record Violation(String promise, Subject subject, String what) {}
