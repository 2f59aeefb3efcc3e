package dev.podcache.chaos;

/** A broken promise that a run has found, as text for people and as a shape for programs. */
record Finding(Shape shape, String text) {

    /** What a finding begins with where programs read it. */
    static final String PREFIX = "FINDING ";

    @Override
    public String toString() {
        return PREFIX + shape.id() + ": " + text;
    }
}
