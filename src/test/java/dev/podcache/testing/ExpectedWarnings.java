package dev.podcache.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The warnings and errors that a test under {@link NoLeaks} provokes. Each must occur; no other may. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface ExpectedWarnings {

    /** A part of the text of each. */
    String[] value();
}
