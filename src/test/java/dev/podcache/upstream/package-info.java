/**
 * The cases of the kubelet's own unit tests, and of issues in which it failed its users, told to this implementation. Each class
 * names its origin; inputs and expected outcomes are upstream's, the code is not.
 */
@NullMarked
package dev.podcache.upstream;

import org.jspecify.annotations.NullMarked;
