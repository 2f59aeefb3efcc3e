package dev.podcache.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/** A class of tests or properties that takes two seconds of a processor, or ten to wait: {@code mvn -Pfast} is without it. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("slow")
@net.jqwik.api.Tag("slow")
public @interface Slow {}
