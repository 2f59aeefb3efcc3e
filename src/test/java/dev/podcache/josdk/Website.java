package dev.podcache.josdk;

import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;

/** A custom resource that names Secrets of its namespace. */
@Group("operator.example.dev")
@Version("v1")
public final class Website extends CustomResource<WebsiteSpec, Void> implements Namespaced {

    /** Its definition, as JSON. */
    static final String DEFINITION = """
            {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
             "metadata": {"name": "websites.operator.example.dev"},
             "spec": {"group": "operator.example.dev", "scope": "Namespaced",
               "names": {"kind": "Website", "plural": "websites", "singular": "website"},
               "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
                 {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}
            """;
}
