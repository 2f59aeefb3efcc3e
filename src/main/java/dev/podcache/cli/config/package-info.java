/**
 * Reads the configuration of the program: flags and configuration file as those of a kubelet, and how to reach the
 * cluster. Start reading at {@link dev.podcache.cli.config.NodeOptions}: {@code KubeletFlags} and {@code
 * ConfigurationFile} give {@code Settings}, from which {@code KubeletSettings} creates a {@link
 * dev.podcache.kubelet.agent.KubeletConfiguration}. {@code ClusterAccess} finds the API server, and {@code
 * NodeCredentials} requests the certificate of a node if it has none.
 *
 * <p>Locks: none.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.cli.config;

import org.jspecify.annotations.NullMarked;
