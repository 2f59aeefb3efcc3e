package dev.podcache.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * What a {@link RealServerTest} needs that not every server has. It is skipped, with the missing feature as the reason,
 * on a server that lacks one. Stands on a method wherever it can. Of no effect on a test that is no real-server test: a
 * contract may need a feature on real servers and run on the embedded server all the same.
 */
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface Needs {

    ServerFeature[] value();
}
