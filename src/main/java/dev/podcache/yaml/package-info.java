/**
 * Reads YAML, of which JSON is a part, as Kubernetes' own programs read it: {@link dev.podcache.yaml.YamlReader}. All that
 * comes from a file goes through it: kubeconfigs, manifests, static pods, configuration. So one text has one meaning
 * everywhere.
 *
 * <p>Read {@code YamlReader}, then {@code YamlNode}, {@code Scalars} (what a word without quotes means) and {@code
 * TabScanner}. Nothing here has a lock: each read is confined to its caller's thread, and nodes are immutable.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.yaml;

import org.jspecify.annotations.NullMarked;
