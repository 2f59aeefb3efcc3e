package dev.podcache.patch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How conditions, finalizers and taints merge, and in which order, is what kube-apiserver 1.20.2 answered. */
class StrategicMergePatchTest {

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        field added and changed   | {'a':1,'b':{'c':2}}                 | {'b':{'c':3,'d':4}}           | {'a':1,'b':{'c':3,'d':4}}
        null removes              | {'a':1,'b':{'c':2}}                 | {'b':{'c':null}}              | {'a':1,'b':{}}
        null of nothing           | {'a':1}                             | {'b':null}                    | {'a':1}
        map is replaced           | {'b':{'c':2}}                       | {'b':{'$patch':'replace','d':1}} | {'b':{'d':1}}
        map is emptied            | {'b':{'c':2}}                       | {'b':{'$patch':'delete'}}     | {'b':{}}
        values merge              | {'metadata':{'finalizers':['a']}}   | {'metadata':{'finalizers':['b','a']}} | {'metadata':{'finalizers':['b','a']}}
        values go                 | {'metadata':{'finalizers':['a','b']}} | {'metadata':{'$deleteFromPrimitiveList/finalizers':['a']}} | {'metadata':{'finalizers':['b']}}
        map is new                | {'a':1}                             | {'b':{'c':null,'d':{'e':null,'f':1}}} | {'a':1,'b':{'d':{'f':1}}}
        directives without target | {'metadata':{}}                     | {'metadata':{'$deleteFromPrimitiveList/finalizers':['a']}} | {'metadata':{}}
        """)
    void apply_anyObject_mergesFieldByField(String rule, String original, String patch, String expected) {
        assertThat(applied("Pod", original, patch)).as(rule).isEqualTo(Trees.tree(expected));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        by key              | [{'type':'A','status':'0'},{'type':'B'}] | [{'type':'A','status':'1'}]                 | [{'type':'A','status':'1'},{'type':'B'}]
        new one             | [{'type':'A'}]                           | [{'type':'B'}]                              | [{'type':'B'},{'type':'A'}]
        one goes            | [{'type':'A'},{'type':'B'}]              | [{'type':'A','$patch':'delete'}]            | [{'type':'B'}]
        replaced            | [{'type':'A'},{'type':'B'}]              | [{'type':'C'},{'$patch':'replace'}]         | [{'type':'C'}]
        emptied             | [{'type':'A'},{'type':'B'}]              | [{'$patch':'replace'}]                      | []
        later one changes   | [{'type':'A'},{'type':'B'}]              | [{'type':'B','x':1}]                        | [{'type':'A'},{'type':'B','x':1}]
        both keep places    | [{'type':'A'},{'type':'B'},{'type':'C'}] | [{'type':'C','x':1},{'type':'A'}]           | [{'type':'B'},{'type':'C','x':1},{'type':'A'}]
        """)
    void apply_conditions_mergeByType(String rule, String original, String patch, String expected) {
        String shape = "{'status':{'conditions':%s}}";
        assertThat(applied("Node", shape.formatted(original), shape.formatted(patch)))
                .as(rule)
                .isEqualTo(Trees.tree(shape.formatted(expected)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        Deployment            | {'spec':{'template':%s}}
        StatefulSet           | {'spec':{'template':%s}}
        DaemonSet             | {'spec':{'template':%s}}
        ReplicaSet            | {'spec':{'template':%s}}
        ReplicationController | {'spec':{'template':%s}}
        Job                   | {'spec':{'template':%s}}
        CronJob               | {'spec':{'jobTemplate':{'spec':{'template':%s}}}}
        PodTemplate           | {'template':%s}
        """)
    void apply_templateOfPods_mergesItsListsAsThoseOfAPod(String kind, String shape) {
        String original =
                "{'spec':{'containers':[{'name':'a','image':'x:1','env':[{'name':'e'}]},{'name':'b'}],'tolerations':[1]}}";
        String patch = "{'spec':{'containers':[{'name':'a','image':'x:2','env':[{'name':'f'}]}],'tolerations':[2]}}";

        ObjectNode template = applied("Pod", original, patch);

        assertThat(template.at("/spec/containers")).hasSize(2);
        assertThat(applied(kind, shape.formatted(original), shape.formatted(patch)))
                .isEqualTo(Trees.tree(shape.formatted(template)));
    }

    @Test
    void apply_volumeOfATemplate_mayReplaceItsUnion() {
        ObjectNode result = applied(
                "Deployment",
                "{'spec':{'template':{'spec':{'volumes':[{'name':'v','secret':{'secretName':'s'}},{'name':'w'}]}}}}",
                "{'spec':{'template':{'spec':{'volumes':[{'name':'v','configMap':{'name':'c'},"
                        + "'$retainKeys':['name','configMap']}]}}}}");

        assertThat(result)
                .isEqualTo(Trees.tree("{'spec':{'template':{'spec':{'volumes':["
                        + "{'name':'v','configMap':{'name':'c'}},{'name':'w'}]}}}}"));
    }

    @Test
    void apply_kindWhoseListsAreNotKnown_isRefused() {
        assertThatThrownBy(() -> applied("CSINode", "{}", "{}"))
                .isInstanceOf(PatchException.class)
                .hasMessage("the lists of a CSINode that merge are not known");
    }

    @Test
    void apply_setElementOrder_arrangesTheList() {
        ObjectNode result = applied(
                "Node",
                "{'status':{'conditions':[{'type':'A'},{'type':'B'},{'type':'C'}]}}",
                "{'status':{'$setElementOrder/conditions':[{'type':'C'},{'type':'A'}],'conditions':[{'type':'A','x':1}]}}");

        assertThat(result)
                .isEqualTo(Trees.tree("{'status':{'conditions':[{'type':'B'},{'type':'C'},{'type':'A','x':1}]}}"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[{'type':'A'}]                | [{'type':'B','x':1}]",
                "[{'type':'A'},{'type':'B'}]   | [{'type':'B','x':1},{'type':'A','x':1}]",
                "[{'type':'A'}]                | [{'type':'A'},{'type':'A'}]",
                "[{'type':'A'}]                | [{'$patch':'replace'}]",
                "[{'type':'A'}]                | null",
                "'A'                           | []"
            },
            quoteCharacter = '`')
    void apply_listThatDisagreesWithItsOrder_isUnforeseen(String order, String list) {
        String patch = "{'status':{'$setElementOrder/conditions':%s,'conditions':%s}}".formatted(order, list);

        assertThatThrownBy(() -> applied("Node", "{'status':{'conditions':[{'type':'A'},{'type':'B'}]}}", patch))
                .isInstanceOfSatisfying(
                        PatchException.class, e -> assertThat(e.fault()).isEqualTo(PatchException.Fault.UNFORESEEN))
                .hasMessageContaining("$setElementOrder");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[{'type':'A'},{'type':'B'}]   | [{'type':'B'}]",
                "[{'type':'A'},{'type':'B'}]   | []",
                "[]                            | [{'type':'B'}]",
                "[{'type':'A'}]                | [{'type':'B','$patch':'delete'},{'type':'A'}]",
                "[{'type':'A'}]                | [{'type':'A'},{'type':'B','$patch':'delete'}]"
            },
            quoteCharacter = '`')
    void apply_listThatAgreesWithItsOrder_isMerged(String order, String list) {
        String patch = "{'status':{'$setElementOrder/conditions':%s,'conditions':%s}}".formatted(order, list);

        ObjectNode result = applied("Node", "{'status':{'conditions':[{'type':'A'},{'type':'B'}]}}", patch);

        assertThat(result.at("/status/conditions/0/type").asText()).isEqualTo("A");
    }

    @Test
    void apply_containerInAPod_mergesItsOwnLists() {
        ObjectNode result = applied(
                "Pod",
                "{'spec':{'containers':[{'name':'c','image':'i:1','env':[{'name':'A','value':'1'}],'args':['x','y']}]}}",
                "{'spec':{'containers':[{'name':'c','image':'i:2','env':[{'name':'B','value':'2'}],'args':['z']}]}}");

        assertThat(result)
                .isEqualTo(
                        Trees.tree("{'spec':{'containers':[{'name':'c','image':'i:2','env':[{'name':'B','value':'2'},"
                                + "{'name':'A','value':'1'}],'args':['z']}]}}"));
    }

    @Test
    void apply_retainKeys_leavesOneMemberOfTheUnion() {
        ObjectNode result = applied(
                "Pod",
                "{'spec':{'volumes':[{'name':'v','secret':{'secretName':'s'}}]}}",
                "{'spec':{'volumes':[{'name':'v','$retainKeys':['name','configMap'],'configMap':{'name':'c'}}]}}");

        assertThat(result).isEqualTo(Trees.tree("{'spec':{'volumes':[{'name':'v','configMap':{'name':'c'}}]}}"));
    }

    @Test
    void apply_retainKeysWithoutAFieldThatIsSet_isMalformed() {
        assertThatThrownBy(() -> applied(
                        "Pod",
                        "{'spec':{'volumes':[{'name':'v'}]}}",
                        "{'spec':{'volumes':[{'name':'v','$retainKeys':['name'],'configMap':{'name':'c'}}]}}"))
                .isInstanceOfSatisfying(
                        PatchException.class, e -> assertThat(e.fault()).isEqualTo(PatchException.Fault.MALFORMED))
                .hasMessageContaining("$retainKeys at \"spec.volumes\"");
    }

    @Test
    void apply_tolerations_replaceTheList() {
        ObjectNode result =
                applied("Pod", "{'spec':{'tolerations':[{'key':'a'}]}}", "{'spec':{'tolerations':[{'key':'b'}]}}");

        assertThat(result).isEqualTo(Trees.tree("{'spec':{'tolerations':[{'key':'b'}]}}"));
    }

    @Test
    void apply_taints_replaceTheList() {
        ObjectNode result = applied("Node", "{'spec':{'taints':[{'key':'a'}]}}", "{'spec':{'taints':[{'key':'b'}]}}");

        assertThat(result).isEqualTo(Trees.tree("{'spec':{'taints':[{'key':'b'}]}}"));
    }

    @Test
    void apply_elementWithoutItsKey_isUnforeseenAndQuotesNoValue() {
        assertThatThrownBy(() -> applied(
                        "Pod",
                        "{'spec':{'containers':[{'name':'c'}]}}",
                        "{'spec':{'containers':[{'image':'canary'}]}}"))
                .isInstanceOfSatisfying(
                        PatchException.class, e -> assertThat(e.fault()).isEqualTo(PatchException.Fault.UNFORESEEN))
                .hasMessageContaining("name")
                .hasMessageNotContaining("canary");
    }

    @ParameterizedTest
    @ValueSource(strings = {"[{'x':1}]", "['A']", "[{'type':'A'},{'x':1}]", "[{'type':'B'},{'type':'A'},{'x':1}]"})
    void apply_orderOfElementsWithoutTheirKey_isUnforeseen(String order) {
        String object = "{'status':{'conditions':[{'type':'A'}]}}";

        assertThatThrownBy(() -> applied("Node", object, "{'status':{'$setElementOrder/conditions':" + order + "}}"))
                .isInstanceOfSatisfying(
                        PatchException.class, e -> assertThat(e.fault()).isEqualTo(PatchException.Fault.UNFORESEEN))
                .hasMessageContaining("type");
    }

    @Test
    void apply_unknownDirective_isUnforeseen() {
        assertThatThrownBy(() -> applied("Pod", "{'a':{}}", "{'a':{'$patch':'merge-all'}}"))
                .isInstanceOfSatisfying(
                        PatchException.class, e -> assertThat(e.fault()).isEqualTo(PatchException.Fault.UNFORESEEN))
                .hasMessageContaining("\"a\"");
    }

    @Test
    void apply_anything_modifiesNeitherArgument() {
        ObjectNode original =
                Trees.tree("{'metadata':{'finalizers':['a','b']},'status':{'conditions':[{'type':'A'}]}}");
        ObjectNode patch = Trees.tree(
                "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a']},'status':{'conditions':[{'type':'A','x':1}]}}");
        ObjectNode originalBefore = original.deepCopy();
        ObjectNode patchBefore = patch.deepCopy();

        StrategicMergePatch.of("Node").apply(original, patch);

        assertThat(original).isEqualTo(originalBefore);
        assertThat(patch).isEqualTo(patchBefore);
    }

    @Test
    void diff_equalObjects_isEmpty() {
        ObjectNode node = Trees.tree("{'status':{'conditions':[{'type':'A'}]}}");

        assertThat(StrategicMergePatch.of("Node").diff(node, node.deepCopy())).isEmpty();
    }

    @Test
    void diff_heartbeat_carriesTheChangedFieldsTheKeyAndTheOrder() {
        ObjectNode patch = StrategicMergePatch.of("Node")
                .diff(
                        Trees.tree("{'status':{'conditions':[{'type':'Ready','status':'True','t':1},{'type':'B'}]}}"),
                        Trees.tree("{'status':{'conditions':[{'type':'Ready','status':'True','t':2},{'type':'B'}]}}"));

        assertThat(patch)
                .isEqualTo(Trees.tree("{'status':{'$setElementOrder/conditions':[{'type':'Ready'},{'type':'B'}],"
                        + "'conditions':[{'t':2,'type':'Ready'}]}}"));
    }

    @Test
    void diff_removedElement_isDeletedByItsKey() {
        ObjectNode patch = StrategicMergePatch.of("Node")
                .diff(
                        Trees.tree("{'status':{'conditions':[{'type':'A'},{'type':'B'}]}}"),
                        Trees.tree("{'status':{'conditions':[{'type':'B'}]}}"));

        assertThat(patch)
                .isEqualTo(Trees.tree("{'status':{'$setElementOrder/conditions':[{'type':'B'}],"
                        + "'conditions':[{'$patch':'delete','type':'A'}]}}"));
    }

    @Test
    void diff_otherMemberOfAUnion_retainsOnlyTheNewOne() {
        ObjectNode patch = StrategicMergePatch.of("Pod")
                .diff(
                        Trees.tree("{'spec':{'volumes':[{'name':'v','secret':{'secretName':'s'}}]}}"),
                        Trees.tree("{'spec':{'volumes':[{'name':'v','configMap':{'name':'c'}}]}}"));

        assertThat(patch.at("/spec/volumes/0/$retainKeys"))
                .isEqualTo(Trees.tree("{'k':['configMap','name']}").get("k"));
    }

    private static ObjectNode applied(String kind, String original, String patch) {
        return StrategicMergePatch.of(kind).apply(Trees.tree(original), Trees.tree(patch));
    }
}
