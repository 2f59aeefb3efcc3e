package dev.podcache.patch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PatchTest {

    /** Appendix A of RFC 7386. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        'b'               | 'c'                    | 'c'
        {'a':'b'}         | {'a':'c'}              | {'a':'c'}
        {'a':'b'}         | {'b':'c'}              | {'a':'b','b':'c'}
        {'a':'b'}         | {'a':null}             | {}
        {'a':'b','b':'c'} | {'a':null}             | {'b':'c'}
        {'a':['b']}       | {'a':'c'}              | {'a':'c'}
        {'a':'c'}         | {'a':['b']}            | {'a':['b']}
        {'a':{'b':'c'}}   | {'a':{'b':'d','c':null}} | {'a':{'b':'d'}}
        {'a':[{'b':'c'}]} | {'a':[1]}              | {'a':[1]}
        ['a','b']         | ['c','d']              | ['c','d']
        {'a':'b'}         | ['c']                  | ['c']
        {'e':null}        | {'a':1}                | {'e':null,'a':1}
        [1,2]             | {'a':'b','c':null}     | {'a':'b'}
        {}                | {'a':{'bb':{'ccc':null}}} | {'a':{'bb':{}}}
        """)
    void mergePatch_exampleOfTheRfc_isApplied(String original, String patch, String result) {
        assertThat(MergePatch.apply(value(original), value(patch))).isEqualTo(value(result));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        {'a':1}      | [{'op':'add','path':'/b','value':2}]               | {'a':1,'b':2}
        {'a':[1,3]}  | [{'op':'add','path':'/a/1','value':2}]             | {'a':[1,2,3]}
        {'a':[1]}    | [{'op':'add','path':'/a/-','value':2}]             | {'a':[1,2]}
        {'a':1,'b':2} | [{'op':'remove','path':'/b'}]                     | {'a':1}
        {'a':1}      | [{'op':'replace','path':'/a','value':2}]           | {'a':2}
        {'a':1}      | [{'op':'move','from':'/a','path':'/b'}]            | {'b':1}
        {'a':1}      | [{'op':'copy','from':'/a','path':'/b'}]            | {'a':1,'b':1}
        {'a':1}      | [{'op':'test','path':'/a','value':1}]              | {'a':1}
        {'x/y':1}    | [{'op':'replace','path':'/x~1y','value':2}]        | {'x/y':2}
        {'a':[2]}    | [{'op':'add','path':'/a/0','value':1}]             | {'a':[1,2]}
        {'a':[1]}    | [{'op':'add','path':'/a/1','value':2}]             | {'a':[1,2]}
        {'a':[1,2]}  | [{'op':'remove','path':'/a/0'}]                    | {'a':[2]}
        {'a':[1,2]}  | [{'op':'replace','path':'/a/0','value':3}]         | {'a':[3,2]}
        {'a':1}      | [{'op':'add','path':'','value':{'b':2}}]           | {'b':2}
        {'a':1}      | [{'op':'replace','path':'','value':{'b':2}}]       | {'b':2}
        """)
    void jsonPatch_eachOperation_isApplied(String original, String patch, String result) {
        assertThat(JsonPatch.apply(value(original), value(patch))).isEqualTo(value(result));
    }

    @Test
    void jsonPatch_failedTest_namesTheOperationAndNoValue() {
        ObjectNode secret = Trees.tree("{'data':{'k':'canary-old'}}");

        assertThatThrownBy(
                        () -> JsonPatch.apply(secret, value("[{'op':'test','path':'/data/k','value':'canary-new'}]")))
                .isInstanceOfSatisfying(
                        PatchException.class, e -> assertThat(e.fault()).isEqualTo(PatchException.Fault.INAPPLICABLE))
                .hasMessageContaining("operation 0 of the JSON patch (test /data/k)")
                .hasMessageNotContaining("canary");
    }

    @Test
    void jsonPatch_secondOperationFails_leavesTheTargetAsItWas() {
        ObjectNode target = Trees.tree("{'a':1}");

        assertThatThrownBy(() -> JsonPatch.apply(
                        target, value("[{'op':'add','path':'/b','value':2},{'op':'remove','path':'/nowhere'}]")))
                .isInstanceOf(PatchException.class);
        assertThat(target).isEqualTo(Trees.tree("{'a':1}"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        {'op':'add'}
        [{'op':'fly','path':'/a'}]
        [1]
        [{'path':'/a'}]
        [{'op':'add','path':'/b'}]
        [{'op':'add','path':'a','value':2}]
        [{'op':'add','path':'/nowhere/b','value':2}]
        [{'op':'add','path':'/list/2','value':2}]
        [{'op':'add','path':'/list/x','value':2}]
        [{'op':'remove','path':'/list/1'}]
        [{'op':'remove','path':''}]
        [{'op':'move','from':'','path':'/b'}]
        """)
    void jsonPatch_noSuchThing_isRefused(String patch) {
        assertThatThrownBy(() -> JsonPatch.apply(Trees.tree("{'a':1,'list':[1]}"), value(patch)))
                .isInstanceOf(PatchException.class);
    }

    private static JsonNode value(String singleQuoted) {
        return Trees.tree("{'v':" + singleQuoted + "}").get("v");
    }
}
