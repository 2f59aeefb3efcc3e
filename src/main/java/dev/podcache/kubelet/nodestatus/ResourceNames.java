package dev.podcache.kubelet.nodestatus;

/** What the name of a resource says of it. */
final class ResourceNames {

    // After k8s.io/kubernetes/pkg/apis/core/v1/helper: IsExtendedResourceName, IsHugePageResourceName.

    /** Comes before the size of such a page. */
    static final String HUGE_PAGES = "hugepages-";

    private ResourceNames() {}

    /** Whether it is nobody's business but a device plugin's or an administrator's. */
    static boolean isExtended(String resource) {
        return resource.contains("/") && !resource.contains("kubernetes.io/") && !resource.startsWith("requests.");
    }

    static boolean isHugePages(String resource) {
        return resource.startsWith(HUGE_PAGES);
    }

    /** Whether it is counted in bytes, and so in powers of 1024. */
    static boolean isBytes(String resource) {
        return resource.equals("memory") || resource.equals("ephemeral-storage") || isHugePages(resource);
    }
}
