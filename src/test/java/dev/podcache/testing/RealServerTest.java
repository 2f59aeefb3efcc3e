package dev.podcache.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Marks a test against a {@link RealApiServer}. The test is skipped if this machine has no kube-apiserver, or if the
 * server lacks a feature that the test {@link Needs}. With the system property {@code podcache.realServer=required}, a
 * missing kube-apiserver fails it instead.
 */
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@Tag("real-server")
@ExtendWith(RealServerCondition.class)
public @interface RealServerTest {}
