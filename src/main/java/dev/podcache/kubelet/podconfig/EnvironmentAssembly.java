package dev.podcache.kubelet.podconfig;

import io.fabric8.kubernetes.api.model.ConfigMapEnvSource;
import io.fabric8.kubernetes.api.model.ConfigMapKeySelector;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvFromSource;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarSource;
import io.fabric8.kubernetes.api.model.SecretEnvSource;
import io.fabric8.kubernetes.api.model.SecretKeySelector;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Assembles the environment of one container. Not thread-safe; for one use. */
final class EnvironmentAssembly {

    private final ConfigSources sources;
    private final FileVariables files;
    private final Map<String, String> services;
    private final Map<String, String> variables = new LinkedHashMap<>();

    EnvironmentAssembly(ConfigSources sources, FileVariables files, Map<String, String> services) {
        this.sources = sources;
        this.files = files;
        this.services = services;
    }

    Environment assemble(Container container) {
        for (EnvFromSource source : Nullables.orEmpty(container.getEnvFrom())) {
            addAll(source);
        }
        for (EnvVar variable : Nullables.orEmpty(container.getEnv())) {
            String value = value(variable, container);
            if (value != null) {
                variables.put(Nullables.orEmpty(variable.getName()), value);
            }
        }
        services.forEach(variables::putIfAbsent);
        return new Environment(variables);
    }

    private void addAll(EnvFromSource source) {
        ObjectData data = object(source);
        if (data == null) {
            return;
        }
        String prefix = Nullables.orEmpty(source.getPrefix());
        for (String key : data.variables()) {
            String value = data.variable(key);
            if (value != null) {
                variables.put(prefix + key, value);
            }
        }
    }

    private @Nullable ObjectData object(EnvFromSource source) {
        if (source.getConfigMapRef() != null) {
            ConfigMapEnvSource reference = source.getConfigMapRef();
            return sources.objects().configMap(reference.getName(), reference.getOptional());
        }
        if (source.getSecretRef() != null) {
            SecretEnvSource reference = source.getSecretRef();
            return sources.objects().secret(reference.getName(), reference.getOptional());
        }
        return null;
    }

    /** Returns the value of a variable, or null if an optional reference has none. */
    private @Nullable String value(EnvVar variable, Container container) {
        String literal = Nullables.orEmpty(variable.getValue());
        if (!literal.isEmpty()) {
            return VariableExpansion.expand(literal, this::defined);
        }
        EnvVarSource source = variable.getValueFrom();
        if (source == null) {
            return "";
        }
        if (source.getFieldRef() != null) {
            return sources.fields().forVariable(source.getFieldRef());
        }
        if (source.getResourceFieldRef() != null) {
            return sources.resources().value(source.getResourceFieldRef(), container);
        }
        if (source.getFileKeyRef() != null) {
            return files.value(source.getFileKeyRef());
        }
        return objectValue(variable.getName(), source);
    }

    private @Nullable String objectValue(String variable, EnvVarSource source) {
        if (source.getConfigMapKeyRef() != null) {
            ConfigMapKeySelector selector = source.getConfigMapKeyRef();
            ObjectData data = sources.objects().configMap(selector.getName(), selector.getOptional());
            return data == null ? null : keyValue(data, selector.getKey(), selector.getOptional());
        }
        if (source.getSecretKeyRef() != null) {
            SecretKeySelector selector = source.getSecretKeyRef();
            ObjectData data = sources.objects().secret(selector.getName(), selector.getOptional());
            return data == null ? null : keyValue(data, selector.getKey(), selector.getOptional());
        }
        String message = "environment variable " + variable + " has an unsupported valueFrom; use fieldRef,"
                + " resourceFieldRef, configMapKeyRef, secretKeyRef or fileKeyRef";
        throw sources.target().failure(message);
    }

    private @Nullable String keyValue(ObjectData data, String key, @Nullable Boolean optional) {
        String value = data.variable(key);
        if (value == null && !Boolean.TRUE.equals(optional)) {
            throw sources.target().failure("couldn't find key " + key + " in " + data.name());
        }
        return value;
    }

    private @Nullable String defined(String name) {
        String value = variables.get(name);
        return value == null ? services.get(name) : value;
    }
}
