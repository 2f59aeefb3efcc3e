package dev.podcache.kubelet.host;

import java.util.Locale;

/** Translates Java's names of operating systems and architectures to Go's. */
final class GoPlatform {

    private GoPlatform() {}

    /** Returns the GOOS for a value of the system property {@code os.name}. */
    static String operatingSystem(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (lower.startsWith("windows")) {
            return "windows";
        }
        return lower.startsWith("mac") ? "darwin" : lower;
    }

    /** Returns the GOARCH for a value of the system property {@code os.arch}. */
    static String architecture(String name) {
        return switch (name) {
            case "x86_64", "amd64" -> "amd64";
            case "aarch64" -> "arm64";
            case "x86", "i386", "i486", "i586", "i686" -> "386";
            default -> name;
        };
    }
}
