package dev.podcache.kubelet.agent;

import dev.podcache.testing.RealApiServer;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What an agent does on a server with the features of today's Kubernetes, a line for each: {@code ok}, {@code not on this
 * server}, or {@code FAILED}. The server is the one of a kubeconfig of an administrator, or else a kube-apiserver that is
 * started here. Exits with 1 if a feature failed.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.kubelet.agent.FeaturesRun -Djmh.args=admin.kubeconfig
 * }</pre>
 *
 * <p>The agent is a node of its own for a minute or two, and runs the commands of its pods on this machine, which must be
 * Linux. The namespace, the pods, the Node and the Lease that it creates have names that begin with {@code features-}, and are
 * deleted at the end.
 */
public final class FeaturesRun {

    private static final Duration LONGEST = Duration.ofMinutes(1);

    private FeaturesRun() {}

    /** Runs it and prints the lines. */
    public static void main(String[] args) throws Exception {
        Config config = args.length > 0
                ? Config.fromKubeconfig(Files.readString(Path.of(args[0])))
                : RealApiServer.shared().config();
        List<FeatureCheck.FeatureResult> failed = new ArrayList<>();
        try (FeatureChecks checks = new FeatureChecks(config, LONGEST)) {
            checks.run(result -> {
                System.out.println(result);
                if (result.failed()) {
                    failed.add(result);
                }
            });
        }
        System.exit(failed.isEmpty() ? 0 : 1);
    }
}
