package dev.podcache.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The warnings and errors that a test or a jqwik property must log. It fails if one is missing. It also fails, under
 * {@link NoLeaks}, if another one is logged, and elsewhere, if another error is, or a warning that carries a Throwable.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface ExpectedWarnings {

    /** A part of the text of each warning or error. */
    String[] value();
}
