package dev.podcache;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.List;

/** Reads the Secrets of one namespace that pods refer to. For one thread. */
interface Contestant extends AutoCloseable {

    /** Follows {@code names}, which are what {@code pods} refer to, and returns when all of them can be read. */
    void follow(List<Pod> pods, List<String> names);

    /** Follows {@code name}, which is all that {@code pod} refers to, and reads it. */
    Secret firstGet(Pod pod, String name);

    /** Returns what is known of a followed object. */
    Secret read(String name);

    /** Closes everything, connections included. */
    @Override
    void close();
}
