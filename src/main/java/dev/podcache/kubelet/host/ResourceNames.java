package dev.podcache.kubelet.host;

/** Classifies resources by their names. */
public final class ResourceNames {

    // After k8s.io/kubernetes/pkg/apis/core/v1/helper: IsExtendedResourceName, IsHugePageResourceName.

    /** The prefix of the names of huge pages; the page size follows. */
    public static final String HUGE_PAGES = "hugepages-";

    private ResourceNames() {}

    /** Returns whether the resource is an extended one, which a device plugin or an administrator manages. */
    public static boolean isExtended(String resource) {
        return resource.contains("/") && !resource.contains("kubernetes.io/") && !resource.startsWith("requests.");
    }

    /** Returns whether the resource is huge pages of some size. */
    public static boolean isHugePages(String resource) {
        return resource.startsWith(HUGE_PAGES);
    }

    /** Returns whether the resource is counted in bytes, and so written in powers of 1024. */
    public static boolean isBytes(String resource) {
        return resource.equals("memory") || resource.equals("ephemeral-storage") || isHugePages(resource);
    }
}
