package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.runtime.ImagePull;
import dev.podcache.kubelet.runtime.PodRuntime;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.Set;

/** Runtimes that pull images although they are made of one that has none. */
final class PulledImages {

    private PulledImages() {}

    /** Returns {@code runtime}, with all interfaces that it has, and {@code puller} for its images. */
    static PodRuntime on(PodRuntime runtime, ImagePull puller) {
        Set<Class<?>> interfaces = new LinkedHashSet<>(Set.of(runtime.getClass().getInterfaces()));
        interfaces.add(ImagePull.class);
        return (PodRuntime) Proxy.newProxyInstance(
                PulledImages.class.getClassLoader(),
                interfaces.toArray(new Class<?>[0]),
                (proxy, method, arguments) -> {
                    try {
                        return method.invoke(
                                method.getDeclaringClass() == ImagePull.class ? puller : runtime, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
