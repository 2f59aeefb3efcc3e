package dev.podcache.kubelet.runtime;

import com.google.common.collect.ImmutableMap;
import com.google.common.hash.Hashing;
import io.fabric8.kubernetes.api.model.Secret;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The configuration that a container is started with, after the expansion of variables. Ports, resources and the
 * security context are in the container's spec. Immutable.
 *
 * @param command the entry point; empty for the image's own; copied
 * @param args the arguments of the entry point; empty for the image's own; copied
 * @param workingDirectory the working directory, or "" for the image's own
 * @param environment the environment variables in the order of their definition; copied, unmodifiable. A name is any printable
 *     ASCII without {@code =}. Values come from Secrets and may be any bytes, also in commands, arguments and subPaths that
 *     name a variable: {@link ByteText#bytes} returns them
 * @param mounts where volumes appear in the container, in the order of the spec; copied
 * @param pullSecrets the Secrets to pull the image with, in the order of the pod's spec; copied, unmodifiable
 * @param restartCount how often this container was started before; a runtime that outlives the agent should show it in
 *     the container's status
 * @param containerHash a hash of the parts of the container's spec that a change of makes it another container: its name and
 *     image. A runtime that outlives the agent should keep it and give it back in {@link PodState#containerHashes}: only
 *     then is a container restarted whose image was changed while no agent ran
 * @param hostname what the container should see as the name of its machine, as in {@code HOSTNAME}: the pod's {@code
 *     hostnameOverride}, its {@code hostname} or its name, at most 63 characters, and with {@code setHostnameAsFQDN} its full
 *     name; on the network of the host, the name of the node; "" if it is not known
 * @param fqdn the full name of the pod in the DNS of the cluster, such as {@code web-0.web.shop.svc.cluster.local}, for {@code
 *     /etc/hosts}; "" if it has none: without a {@code subdomain}, with a {@code hostnameOverride}, on the network of the host
 */
public record Launch(
        List<String> command,
        List<String> args,
        String workingDirectory,
        Map<String, String> environment,
        List<VolumeMountPoint> mounts,
        List<Secret> pullSecrets,
        int restartCount,
        String containerHash,
        String hostname,
        String fqdn) {

    public Launch {
        command = List.copyOf(command);
        args = List.copyOf(args);
        environment = ImmutableMap.copyOf(environment);
        mounts = List.copyOf(mounts);
        pullSecrets = List.copyOf(pullSecrets);
    }

    /** A launch without a host name. */
    public Launch(
            List<String> command,
            List<String> args,
            String workingDirectory,
            Map<String, String> environment,
            List<VolumeMountPoint> mounts,
            List<Secret> pullSecrets,
            int restartCount,
            String containerHash) {
        this(command, args, workingDirectory, environment, mounts, pullSecrets, restartCount, containerHash, "", "");
    }

    /** A launch without a hash and a host name. */
    public Launch(
            List<String> command,
            List<String> args,
            String workingDirectory,
            Map<String, String> environment,
            List<VolumeMountPoint> mounts,
            List<Secret> pullSecrets,
            int restartCount) {
        this(command, args, workingDirectory, environment, mounts, pullSecrets, restartCount, "");
    }

    /** Returns the {@link #containerHash} of a container with this name and image. */
    public static String hashOf(String name, @Nullable String image) {
        return Hashing.farmHashFingerprint64()
                .newHasher()
                .putString(name, StandardCharsets.UTF_8)
                .putChar('/') // is in no name
                .putString(String.valueOf(image), StandardCharsets.UTF_8)
                .hash()
                .toString();
    }

    /**
     * A mount of a volume in a container. Immutable.
     *
     * @param volume the name of the volume in the pod's spec
     * @param path the absolute path in the container
     * @param subPath the relative path within the volume, with variables expanded, which may contain the value of a Secret;
     *     "" for the whole volume
     * @param subPathExpr the text that {@code subPath} was expanded from, for messages; "" if it was not
     */
    public record VolumeMountPoint(String volume, String path, String subPath, boolean readOnly, String subPathExpr) {

        /** A mount whose {@code subPath} was not expanded. */
        public VolumeMountPoint(String volume, String path, String subPath, boolean readOnly) {
            this(volume, path, subPath, readOnly, "");
        }

        /** Returns the field and text of the spec that name the part of the volume, for messages. */
        public String shownSubPath() {
            return subPathExpr.isEmpty() ? "subPath \"" + subPath + "\"" : "subPathExpr \"" + subPathExpr + "\"";
        }

        /** Returns the mount without values of variables. */
        @Override
        public String toString() {
            return volume + " at " + path + (subPath.isEmpty() ? "" : ", " + shownSubPath());
        }
    }

    /** Returns the numbers of variables and pull secrets. Contains no values, because they are secret. */
    @Override
    public String toString() {
        return "Launch[" + environment.size() + " variables, " + pullSecrets.size() + " pull secrets]";
    }
}
