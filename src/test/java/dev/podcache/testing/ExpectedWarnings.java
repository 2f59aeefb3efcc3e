package dev.podcache.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The warnings and errors that a test under {@link NoLeaks} must log. The test fails if one is missing or another one
 * is logged.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface ExpectedWarnings {

    /** A part of the text of each warning or error. */
    String[] value();
}
