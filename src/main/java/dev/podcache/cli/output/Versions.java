package dev.podcache.cli.output;

import picocli.CommandLine.IVersionProvider;

/** The version of Podcache, which {@code --version} prints. */
public final class Versions implements IVersionProvider {

    @Override
    public String[] getVersion() {
        return new String[] {"podcache " + podcache()};
    }

    /** Returns the version in the manifest of the jar, or "development build" outside a jar. */
    public static String podcache() {
        String version = Versions.class.getPackage().getImplementationVersion();
        return version == null ? "development build" : version;
    }
}
