/**
 * Flags and configuration file of the program, as those of a kubelet, and how it reaches the cluster.
 */
@NullMarked
package dev.podcache.cli.config;

import org.jspecify.annotations.NullMarked;
