package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.runtime.VolumeFile;
import io.fabric8.kubernetes.api.model.ConfigMapVolumeSource;
import io.fabric8.kubernetes.api.model.DownwardAPIVolumeFile;
import io.fabric8.kubernetes.api.model.DownwardAPIVolumeSource;
import io.fabric8.kubernetes.api.model.KeyToPath;
import io.fabric8.kubernetes.api.model.ProjectedVolumeSource;
import io.fabric8.kubernetes.api.model.SecretVolumeSource;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One payload in the making: sources are added, later paths win. For one thread and one use. */
final class PayloadAssembly {

    private final Ingredients ingredients;
    private final Map<String, VolumeFile> files = new LinkedHashMap<>();
    private final List<PodConfigException> failures = new ArrayList<>();

    /** Of one object what a volume wants. */
    private record WantedKey(
            @Nullable List<KeyToPath> items,
            int defaultMode,
            @Nullable Boolean optional,
            String missingKey) {

        static WantedKey ofSecret(@Nullable List<KeyToPath> items, int mode, @Nullable Boolean optional) {
            return new WantedKey(items, mode, optional, "references non-existent secret key: ");
        }

        static WantedKey ofConfigMap(@Nullable List<KeyToPath> items, int mode, @Nullable Boolean optional) {
            return new WantedKey(items, mode, optional, "configmap references non-existent config key: ");
        }
    }

    PayloadAssembly(Ingredients ingredients) {
        this.ingredients = ingredients;
    }

    void add(SecretVolumeSource source) {
        int mode = required(source.getDefaultMode());
        ObjectData data = ingredients.objects().secret(source.getSecretName(), source.getOptional());
        add(data, WantedKey.ofSecret(source.getItems(), mode, source.getOptional()));
    }

    void add(ConfigMapVolumeSource source) {
        int mode = required(source.getDefaultMode());
        ObjectData data = ingredients.objects().configMap(source.getName(), source.getOptional());
        add(data, WantedKey.ofConfigMap(source.getItems(), mode, source.getOptional()));
    }

    void add(DownwardAPIVolumeSource source) {
        add(source.getItems(), required(source.getDefaultMode()));
    }

    /** Goes on after a source that fails, so that people see at once all that is wrong. */
    void add(ProjectedVolumeSource source) {
        int mode = required(source.getDefaultMode());
        for (VolumeProjection projection : AbsentObject.orEmpty(source.getSources())) {
            attempt(() -> add(projection, mode));
        }
    }

    /**
     * What was added.
     *
     * @throws PodConfigException if not all could be
     */
    ImmutableMap<String, VolumeFile> payload() {
        if (!failures.isEmpty()) {
            throw PodConfigException.allOf(failures);
        }
        return ImmutableMap.copyOf(files);
    }

    private void add(VolumeProjection projection, int mode) {
        if (projection.getSecret() != null) {
            var source = projection.getSecret();
            ObjectData data = ingredients.objects().secret(source.getName(), source.getOptional());
            add(data, WantedKey.ofSecret(source.getItems(), mode, source.getOptional()));
        } else if (projection.getConfigMap() != null) {
            var source = projection.getConfigMap();
            ObjectData data = ingredients.objects().configMap(source.getName(), source.getOptional());
            add(data, WantedKey.ofConfigMap(source.getItems(), mode, source.getOptional()));
        } else if (projection.getDownwardAPI() != null) {
            add(projection.getDownwardAPI().getItems(), mode);
        } else if (projection.getServiceAccountToken() == null) {
            throw ingredients
                    .subject()
                    .failure("a source of the projected volume is not supported; use secret, configMap, downwardAPI"
                            + " and serviceAccountToken");
        }
    }

    /** Nothing is added of an object that is missing and may be. */
    private void add(@Nullable ObjectData data, WantedKey wanted) {
        if (data == null) {
            return;
        }
        List<KeyToPath> items = AbsentObject.orEmpty(wanted.items);
        for (KeyToPath item : items) {
            byte[] content = data.file(item.getKey());
            if (content != null) {
                put(item.getPath(), content, item.getMode() == null ? wanted.defaultMode : item.getMode());
            } else if (!Boolean.TRUE.equals(wanted.optional)) {
                throw ingredients.subject().failure(wanted.missingKey + item.getKey());
            }
        }
        if (items.isEmpty()) {
            for (String key : data.files()) {
                byte[] content = data.file(key);
                if (content != null) {
                    put(key, content, wanted.defaultMode);
                }
            }
        }
    }

    private void add(@Nullable List<DownwardAPIVolumeFile> items, int defaultMode) {
        for (DownwardAPIVolumeFile item : AbsentObject.orEmpty(items)) {
            attempt(() -> {
                int mode = item.getMode() == null ? defaultMode : item.getMode();
                put(item.getPath(), downward(item).getBytes(StandardCharsets.UTF_8), mode);
            });
        }
    }

    private String downward(DownwardAPIVolumeFile item) {
        if (item.getFieldRef() != null) {
            return ingredients.fields().forFile(item.getFieldRef());
        }
        if (item.getResourceFieldRef() != null) {
            return ingredients.resources().value(item.getResourceFieldRef(), null);
        }
        throw ingredients
                .subject()
                .failure("file " + item.getPath() + " of the downward API has neither fieldRef nor"
                        + " resourceFieldRef");
    }

    private void attempt(Runnable addition) {
        try {
            addition.run();
        } catch (PodConfigException e) {
            failures.add(e);
        }
    }

    private void put(@Nullable String path, byte[] content, int mode) {
        String given = AbsentObject.orEmpty(path);
        String problem = PayloadPaths.problem(given);
        if (problem != null) {
            throw ingredients.subject().failure(problem);
        }
        files.put(PayloadPaths.cleaned(given), VolumeFile.of(content, mode));
    }

    private int required(@Nullable Integer defaultMode) {
        if (defaultMode == null) {
            throw ingredients.subject().failure("no defaultMode used, not even the default value for it");
        }
        return defaultMode;
    }
}
