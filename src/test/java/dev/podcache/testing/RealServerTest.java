package dev.podcache.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test against a {@link RealApiServer}. Where this machine has no kube-apiserver it is skipped; with the system property
 * {@code podcache.realServer=required} it fails instead. On a server that lacks what it {@link Needs} it is skipped.
 */
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@Tag("real-server")
@ExtendWith(RealServerCondition.class)
public @interface RealServerTest {}
