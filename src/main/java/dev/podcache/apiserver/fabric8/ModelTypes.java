package dev.podcache.apiserver.fabric8;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.type.ClassStack;
import com.fasterxml.jackson.databind.type.TypeBindings;
import com.fasterxml.jackson.databind.type.TypeFactory;
import com.fasterxml.jackson.databind.util.LRUMap;
import io.fabric8.kubernetes.api.builder.Editable;
import java.util.Arrays;

/**
 * The types of fabric8's model for Jackson, without the interface {@link Editable}, whose type argument is the builder of
 * the class. Jackson alone loads the builders of all classes that a Pod could contain when it reads the first Pod.
 */
final class ModelTypes extends TypeFactory {

    private static final long serialVersionUID = 1;
    private static final int CACHED_TYPES = 200; // as Jackson's default

    ModelTypes() {
        super(new LRUMap<>(16, CACHED_TYPES));
    }

    @Override
    protected JavaType[] _resolveSuperInterfaces(ClassStack context, Class<?> type, TypeBindings bindings) {
        Class<?>[] interfaces = type.getInterfaces();
        if (!Arrays.asList(interfaces).contains(Editable.class)
                || Arrays.stream(interfaces)
                        .anyMatch(each -> each != Editable.class && each.getTypeParameters().length > 0)) {
            return super._resolveSuperInterfaces(context, type, bindings);
        }
        return Arrays.stream(interfaces)
                .filter(each -> each != Editable.class)
                .map(each -> _fromAny(context, each, bindings))
                .toArray(JavaType[]::new);
    }
}
