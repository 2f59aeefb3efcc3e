package dev.podcache.cli.output;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** The version of Podcache, which {@code --version} prints. */
public final class Versions implements IVersionProvider {

    private static final String MAVEN = "/META-INF/maven/dev.podcache/podcache/pom.properties";

    @Override
    public String[] getVersion() {
        return new String[] {"podcache " + podcache()};
    }

    /** Returns the version that Maven wrote into the jar, or "development build" outside a jar. */
    public static String podcache() {
        try (InputStream in = Versions.class.getResourceAsStream(MAVEN)) {
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

    /** Returns the kubelet version in the Node's status, in the form that Kubernetes clients can parse. */
    public static String kubeletVersion() {
        String version = podcache();
        return Character.isDigit(version.charAt(0)) ? "v" + version + "+podcache" : "v0.0.0+podcache";
    }
}
