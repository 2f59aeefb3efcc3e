package dev.podcache.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Marks a class of tests with a {@link Browser}. They are skipped if this machine has no Chromium. With the system
 * property {@code podcache.browser=required}, a missing Chromium fails them instead.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ExtendWith(BrowserCondition.class)
public @interface BrowserTest {}
