package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableMap;
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

/** One environment in the making. For one thread and one use. */
final class EnvironmentAssembly {

    private final Ingredients ingredients;
    private final ImmutableMap<String, String> services;
    private final Map<String, String> variables = new LinkedHashMap<>();

    EnvironmentAssembly(Ingredients ingredients, ImmutableMap<String, String> services) {
        this.ingredients = ingredients;
        this.services = services;
    }

    Environment assemble(Container container) {
        for (EnvFromSource source : AbsentObject.orEmpty(container.getEnvFrom())) {
            addAll(source);
        }
        for (EnvVar variable : AbsentObject.orEmpty(container.getEnv())) {
            String value = value(variable, container);
            if (value != null) {
                variables.put(AbsentObject.orEmpty(variable.getName()), value);
            }
        }
        services.forEach(variables::putIfAbsent);
        return new Environment(ImmutableMap.copyOf(variables));
    }

    private void addAll(EnvFromSource source) {
        ObjectData data = content(source);
        if (data == null) {
            return;
        }
        String prefix = AbsentObject.orEmpty(source.getPrefix());
        for (String key : data.variables()) {
            String value = data.variable(key);
            if (value != null) {
                variables.put(prefix + key, value);
            }
        }
    }

    private @Nullable ObjectData content(EnvFromSource source) {
        if (source.getConfigMapRef() != null) {
            ConfigMapEnvSource reference = source.getConfigMapRef();
            return ingredients.objects().configMap(reference.getName(), reference.getOptional());
        }
        if (source.getSecretRef() != null) {
            SecretEnvSource reference = source.getSecretRef();
            return ingredients.objects().secret(reference.getName(), reference.getOptional());
        }
        return null;
    }

    /** The value of a variable, or null if it is left out. */
    private @Nullable String value(EnvVar variable, Container container) {
        String literal = AbsentObject.orEmpty(variable.getValue());
        if (!literal.isEmpty()) {
            return VariableExpansion.expand(literal, this::known);
        }
        EnvVarSource source = variable.getValueFrom();
        if (source == null) {
            return "";
        }
        if (source.getFieldRef() != null) {
            return ingredients.fields().forVariable(source.getFieldRef());
        }
        if (source.getResourceFieldRef() != null) {
            return ingredients.resources().value(source.getResourceFieldRef(), container);
        }
        return ofObject(variable.getName(), source);
    }

    private @Nullable String ofObject(String variable, EnvVarSource source) {
        if (source.getConfigMapKeyRef() != null) {
            ConfigMapKeySelector selector = source.getConfigMapKeyRef();
            ObjectData data = ingredients.objects().configMap(selector.getName(), selector.getOptional());
            return data == null ? null : keyed(data, selector.getKey(), selector.getOptional());
        }
        if (source.getSecretKeyRef() != null) {
            SecretKeySelector selector = source.getSecretKeyRef();
            ObjectData data = ingredients.objects().secret(selector.getName(), selector.getOptional());
            return data == null ? null : keyed(data, selector.getKey(), selector.getOptional());
        }
        String message = "environment variable " + variable + " has a valueFrom that is not supported; use one of"
                + " fieldRef, resourceFieldRef, configMapKeyRef and secretKeyRef";
        throw ingredients.subject().failure(message);
    }

    private @Nullable String keyed(ObjectData data, String key, @Nullable Boolean optional) {
        String value = data.variable(key);
        if (value == null && !Boolean.TRUE.equals(optional)) {
            throw ingredients.subject().failure("couldn't find key " + key + " in " + data.name());
        }
        return value;
    }

    private @Nullable String known(String name) {
        String value = variables.get(name);
        return value == null ? services.get(name) : value;
    }
}
