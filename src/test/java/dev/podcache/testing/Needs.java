package dev.podcache.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The features that a {@link RealServerTest} needs and some servers lack. On a server without one of them, the test is
 * skipped, with the missing feature as the reason. Preferably used on a method. Without effect on tests that are not
 * real-server tests, so that a contract can need a feature on real servers and still run on the embedded server.
 */
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface Needs {

    ServerFeature[] value();
}
