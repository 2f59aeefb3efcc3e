package dev.podcache.apiserver.fabric8;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.DeserializerFactoryConfig;
import com.fasterxml.jackson.databind.deser.BeanDeserializerFactory;
import com.fasterxml.jackson.databind.deser.DefaultDeserializationContext;
import com.fasterxml.jackson.databind.deser.DeserializerFactory;
import com.fasterxml.jackson.databind.deser.ResolvableDeserializer;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.jsontype.TypeDeserializer;
import com.fasterxml.jackson.databind.type.ClassStack;
import com.fasterxml.jackson.databind.type.LogicalType;
import com.fasterxml.jackson.databind.type.TypeBindings;
import com.fasterxml.jackson.databind.type.TypeFactory;
import com.fasterxml.jackson.databind.util.LRUMap;
import io.fabric8.kubernetes.api.builder.Editable;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Makes the deserializer of a class of fabric8's model when the first JSON object of that class is read. Jackson alone
 * makes those of all classes that a Pod could contain when it reads the first Pod, which costs time at the start and
 * megabytes of memory for types of volumes that no pod has.
 */
final class LazyModelDeserializers extends BeanDeserializerFactory {

    private static final long serialVersionUID = 1;

    /** Other classes may have annotations that need their deserializer at once, such as {@code JsonUnwrapped}. */
    private static final String MODEL = "io.fabric8.kubernetes.api.model.";

    private LazyModelDeserializers(DeserializerFactoryConfig config) {
        super(config);
    }

    /**
     * Returns a serialization that reads classes of the model in this way, where the model is one for Jackson 2, which is fabric8
     * 7; otherwise fabric8's own, which holds 4 MB more.
     */
    static KubernetesSerialization serialization() {
        try {
            // objects are decoded as a known class, so no list of all classes is needed
            return KubernetesSerialization.class
                    .getConstructor(ObjectMapper.class, boolean.class)
                    .newInstance(mapper(), false);
        } catch (NoSuchMethodException ofJackson3) {
            return new KubernetesSerialization();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("fabric8's serialization cannot be made", e);
        }
    }

    private static ObjectMapper mapper() {
        ObjectMapper mapper = new ObjectMapper(
                null,
                null,
                new DefaultDeserializationContext.Impl(new LazyModelDeserializers(new DeserializerFactoryConfig())));
        return mapper.setTypeFactory(new TypesWithoutBuilders());
    }

    @Override
    public DeserializerFactory withConfig(DeserializerFactoryConfig config) {
        return new LazyModelDeserializers(config);
    }

    @Override
    public JsonDeserializer<Object> createBeanDeserializer(
            DeserializationContext context, JavaType type, BeanDescription description) throws JsonMappingException {
        return type.isConcrete() && type.getRawClass().getName().startsWith(MODEL)
                ? new Lazy(type, this)
                : super.createBeanDeserializer(context, type, description);
    }

    private JsonDeserializer<Object> make(DeserializationContext context, JavaType type) throws JsonMappingException {
        JsonDeserializer<Object> made =
                super.createBeanDeserializer(context, type, context.getConfig().introspect(type));
        if (made instanceof ResolvableDeserializer resolvable) {
            resolvable.resolve(context);
        }
        return made;
    }

    /** Makes the deserializer of one class at its first use. */
    private static final class Lazy extends StdDeserializer<Object> {

        private static final long serialVersionUID = 1;

        private final JavaType type;
        private final LazyModelDeserializers factory;
        private volatile @Nullable JsonDeserializer<Object> made; // two threads may make it; either can be used

        Lazy(JavaType type, LazyModelDeserializers factory) {
            super(type);
            this.type = type;
            this.factory = factory;
        }

        private JsonDeserializer<Object> made(DeserializationContext context) throws JsonMappingException {
            JsonDeserializer<Object> known = made;
            if (known == null) {
                known = factory.make(context, type);
                made = known;
            }
            return known;
        }

        @Override
        public Object deserialize(JsonParser json, DeserializationContext context) throws IOException {
            return made(context).deserialize(json, context);
        }

        @Override
        public Object deserialize(JsonParser json, DeserializationContext context, Object into) throws IOException {
            return made(context).deserialize(json, context, into);
        }

        @Override
        public Object deserializeWithType(JsonParser json, DeserializationContext context, TypeDeserializer typed)
                throws IOException {
            return made(context).deserializeWithType(json, context, typed);
        }

        @Override
        public @Nullable Object getEmptyValue(DeserializationContext context) throws JsonMappingException {
            return made(context).getEmptyValue(context);
        }

        @Override
        public boolean isCachable() {
            return true;
        }

        @Override
        public LogicalType logicalType() {
            return LogicalType.POJO;
        }
    }

    /**
     * The types of fabric8's model for Jackson, without the interface {@link Editable}, whose type argument is the builder of
     * the class. Jackson alone loads the builders of all classes that a Pod could contain when it reads the first Pod.
     */
    private static final class TypesWithoutBuilders extends TypeFactory {

        private static final long serialVersionUID = 1;
        private static final int CACHED_TYPES = 200; // as Jackson's default

        TypesWithoutBuilders() {
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
}
