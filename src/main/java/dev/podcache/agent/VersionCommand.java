package dev.podcache.agent;

import com.google.common.collect.ImmutableMap;
import io.fabric8.kubernetes.client.Version;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Mixin;

/** The subcommand {@code version}. */
@Command(
        name = "version",
        header = "Prints versions.",
        mixinStandardHelpOptions = true,
        description = "Of Podcache, of Java and of the Kubernetes client.",
        footer = {"", "Example:", "  podcache-agent version -o json"})
final class VersionCommand implements Callable<Integer> {

    private static final String MAVEN = "/META-INF/maven/dev.podcache/podcache/pom.properties";

    private final Console console;

    @Mixin
    private OutputOptions output = new OutputOptions();

    VersionCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        ImmutableMap<String, Object> versions = ImmutableMap.of(
                "podcache", podcache(), "java", System.getProperty("java.version"), "fabric8", Version.clientVersion());
        StringBuilder text = new StringBuilder();
        versions.forEach((name, version) -> text.append(String.format("%-9s %s%n", name, version)));
        Account account = Account.direct(console.out(), output.format, System::nanoTime);
        account.block(new Event("version", text.toString().stripTrailing(), versions));
        account.requireUnbroken();
        return 0;
    }

    /** The version that Maven wrote into the jar; classes that were just compiled have none. */
    static String podcache() {
        try (InputStream in = VersionCommand.class.getResourceAsStream(MAVEN)) {
            if (in == null) {
                return "development build";
            }
            Properties properties = new Properties();
            properties.load(in);
            return properties.getProperty("version", "unknown");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What our node shows as its kubelet's version: one that those can read who expect a kubelet's. */
    static String kubeletVersion() {
        String version = podcache();
        return Character.isDigit(version.charAt(0)) ? "v" + version + "+podcache" : "v0.0.0+podcache";
    }

    /** For {@code --version}. */
    static final class Provider implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"podcache " + podcache()};
        }
    }
}
