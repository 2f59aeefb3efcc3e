package dev.podcache.kubelet.podconfig;

import dev.podcache.kubelet.runtime.VolumeFile;
import io.fabric8.kubernetes.api.model.ConfigMapVolumeSource;
import io.fabric8.kubernetes.api.model.DownwardAPIVolumeFile;
import io.fabric8.kubernetes.api.model.DownwardAPIVolumeSource;
import io.fabric8.kubernetes.api.model.KeyToPath;
import io.fabric8.kubernetes.api.model.ProjectedVolumeSource;
import io.fabric8.kubernetes.api.model.SecretVolumeSource;
import io.fabric8.kubernetes.api.model.ServiceAccountTokenProjection;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Assembles the payload of one volume. A later file replaces an earlier one. Not thread-safe; for one use. */
final class PayloadAssembly {

    private final ConfigSources sources;
    private final TokenFiles tokens;
    private final Map<String, VolumeFile> files = new LinkedHashMap<>();
    private final List<PodConfigException> failures = new ArrayList<>();

    PayloadAssembly(ConfigSources sources, TokenFiles tokens) {
        this.sources = sources;
        this.tokens = tokens;
    }

    void add(SecretVolumeSource source) {
        int mode = required(source.getDefaultMode());
        addSecret(source.getSecretName(), source.getItems(), source.getOptional(), mode);
    }

    void add(ConfigMapVolumeSource source) {
        int mode = required(source.getDefaultMode());
        addConfigMap(source.getName(), source.getItems(), source.getOptional(), mode);
    }

    void add(DownwardAPIVolumeSource source) {
        add(source.getItems(), required(source.getDefaultMode()));
    }

    /** Continues after a source that fails, so that the exception names all failures. */
    void add(ProjectedVolumeSource source) {
        int mode = required(source.getDefaultMode());
        for (VolumeProjection projection : Nullables.orEmpty(source.getSources())) {
            attempt(() -> add(projection, mode));
        }
    }

    /**
     * Returns the files that were added, by path.
     *
     * @throws PodConfigException if a file could not be added
     */
    Map<String, VolumeFile> payload() {
        if (!failures.isEmpty()) {
            throw PodConfigException.allOf(failures);
        }
        return Collections.unmodifiableMap(files);
    }

    private void add(VolumeProjection projection, int mode) {
        if (projection.getSecret() != null) {
            var source = projection.getSecret();
            addSecret(source.getName(), source.getItems(), source.getOptional(), mode);
        } else if (projection.getConfigMap() != null) {
            var source = projection.getConfigMap();
            addConfigMap(source.getName(), source.getItems(), source.getOptional(), mode);
        } else if (projection.getDownwardAPI() != null) {
            add(projection.getDownwardAPI().getItems(), mode);
        } else if (projection.getServiceAccountToken() != null) {
            addToken(projection.getServiceAccountToken(), mode);
        } else if (projection.getClusterTrustBundle() != null) {
            var source = projection.getClusterTrustBundle();
            put(source.getPath(), tokens.file(source, mode, sources.target()));
        } else {
            throw sources.target()
                    .failure("unsupported source " + VolumeTypes.of(projection) + " of a projected volume; use secret,"
                            + " configMap, downwardAPI, serviceAccountToken or clusterTrustBundle");
        }
    }

    private void addToken(ServiceAccountTokenProjection projection, int mode) {
        put(projection.getPath(), tokens.file(projection, mode, sources.target()));
    }

    private void addSecret(
            @Nullable String name, @Nullable List<KeyToPath> items, @Nullable Boolean optional, int defaultMode) {
        add(sources.objects().secret(name, optional), items, optional, defaultMode);
    }

    private void addConfigMap(
            @Nullable String name, @Nullable List<KeyToPath> items, @Nullable Boolean optional, int defaultMode) {
        add(sources.objects().configMap(name, optional), items, optional, defaultMode);
    }

    /**
     * Adds the files of an object.
     *
     * @param data null if the object is optional and missing, so that it has no files
     * @param selected the keys to add; all keys if null or empty
     */
    private void add(
            @Nullable ObjectData data,
            @Nullable List<KeyToPath> selected,
            @Nullable Boolean optional,
            int defaultMode) {
        if (data == null) {
            return;
        }
        List<KeyToPath> items = Nullables.orEmpty(selected);
        for (KeyToPath item : items) {
            byte[] content = data.file(item.getKey());
            if (content != null) {
                put(item.getPath(), content, item.getMode() == null ? defaultMode : item.getMode());
            } else if (!Boolean.TRUE.equals(optional)) {
                throw sources.target().failure(data.missingKey(item.getKey()));
            }
        }
        if (items.isEmpty()) {
            for (String key : data.files()) {
                byte[] content = data.file(key);
                if (content != null) {
                    put(key, content, defaultMode);
                }
            }
        }
    }

    private void add(@Nullable List<DownwardAPIVolumeFile> items, int defaultMode) {
        for (DownwardAPIVolumeFile item : Nullables.orEmpty(items)) {
            attempt(() -> {
                int mode = item.getMode() == null ? defaultMode : item.getMode();
                put(item.getPath(), downward(item).getBytes(StandardCharsets.UTF_8), mode);
            });
        }
    }

    private String downward(DownwardAPIVolumeFile item) {
        if (item.getFieldRef() != null) {
            return sources.fields().forFile(item.getFieldRef());
        }
        if (item.getResourceFieldRef() != null) {
            return sources.resources().value(item.getResourceFieldRef(), null);
        }
        String message = "file " + item.getPath() + " of the downward API has neither fieldRef nor resourceFieldRef";
        throw sources.target().failure(message);
    }

    private void attempt(Runnable addition) {
        try {
            addition.run();
        } catch (PodConfigException e) {
            failures.add(e);
        }
    }

    private void put(@Nullable String path, byte[] content, int mode) {
        put(path, VolumeFile.of(content, mode));
    }

    private void put(@Nullable String path, VolumeFile file) {
        String given = Nullables.orEmpty(path);
        String problem = PayloadPaths.problem(given);
        if (problem != null) {
            throw sources.target().failure(problem);
        }
        files.put(PayloadPaths.cleaned(given), file);
    }

    private int required(@Nullable Integer defaultMode) {
        if (defaultMode == null) {
            throw sources.target().failure("no defaultMode used, not even the default value for it");
        }
        return defaultMode;
    }
}
