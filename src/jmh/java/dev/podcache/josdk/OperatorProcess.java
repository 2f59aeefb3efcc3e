package dev.podcache.josdk;

import dev.podcache.testing.Sockets;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.javaoperatorsdk.operator.Operator;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Set;

/**
 * The operator in a process of its own, at the command of {@link OperatorRun}. Each line of its output is a
 * reconciliation ({@code R nanos website secret=version ...}) or the answer to a command ({@code M heap connections
 * threads}). The times are those of {@link System#nanoTime}, which on Linux all processes share.
 */
final class OperatorProcess {

    private static final long SETTLING_MILLIS = 200;

    private OperatorProcess() {}

    /** Runs the contestant of that name with that kubeconfig. */
    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // of whoever logs
        OperatorContestant contestant = OperatorContestant.valueOf(args[0]);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Config config = Config.fromKubeconfig(Path.of(args[1]).toFile());
        int port = URI.create(config.getMasterUrl()).getPort();
        KubernetesClient client =
                new KubernetesClientBuilder().withConfig(config).build();
        Operator operator = new Operator(settings -> settings.withKubernetesClient(client));
        operator.register(new WebsiteReconciler(
                context -> contestant.open(context, client), (website, secrets) -> tell(out, website, secrets)));
        for (String command = commands.readLine(); command != null; command = commands.readLine()) {
            if (command.equals("start")) {
                operator.start();
            }
            out.println("M " + heap() + " " + Sockets.connectedTo(port) + " "
                    + ManagementFactory.getThreadMXBean().getThreadCount());
        }
        System.exit(0); // the parent is gone, or done
    }

    private static void tell(PrintStream out, Website website, Set<Secret> secrets) {
        StringBuilder line =
                new StringBuilder("R ").append(System.nanoTime()).append(' ').append(path(website));
        for (Secret secret : secrets) {
            line.append(' ').append(path(secret)).append('=').append(SeenSecrets.versionOf(secret));
        }
        out.println(line);
    }

    private static String path(HasMetadata object) {
        return object.getMetadata().getNamespace() + "/" + object.getMetadata().getName();
    }

    private static long heap() throws InterruptedException {
        // the second finds what cleaners of the first have let go
        for (int i = 0; i < 2; i++) {
            System.gc();
            Thread.sleep(SETTLING_MILLIS);
        }
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
