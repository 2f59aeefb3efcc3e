/**
 * An operator and a runtime, complete, and the tests that run them: what {@code docs/operators.md}, {@code docs/access.md} and
 * {@code docs/node-agents.md} say.
 */
@NullMarked
package dev.podcache.example;

import org.jspecify.annotations.NullMarked;
