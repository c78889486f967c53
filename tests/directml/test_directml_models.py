"""Models of DxDispatch: what they print, what they write, and what is said of models that are wrong."""

import functools
import io
import json
import math
import operator
import os
import textwrap

import numpy as np
import pytest

import dmlops
import dmlops.directml as dml
from dmlops.__main__ import main
from dmlops.directml import runner
from support import run_python

SLICE = {
    "type": "DML_OPERATOR_SLICE1",
    "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 4]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 2]},
        "DimensionCount": 2,
        "InputWindowOffsets": [0, 1],
        "InputWindowSizes": [3, 3],
        "InputWindowStrides": [-2, 2],
    },
}


def constant(count, value=0, data_type="FLOAT32", **fields):
    return {"initialValuesDataType": data_type, "initialValues": {"valueCount": count, "value": value}, **fields}


def sequence(count, start, delta, data_type="FLOAT32"):
    values = {"valueCount": count, "valueStart": start, "valueDelta": delta}
    return {"initialValuesDataType": data_type, "initialValues": values}


def listed(values, data_type="FLOAT32", **fields):
    return {"initialValuesDataType": data_type, "initialValues": values, **fields}


def model_of(resources, dispatchables=None, commands=()):
    return {"resources": resources, "dispatchables": dispatchables or {}, "commands": list(commands)}


def dispatch(name, **bindings):
    return {"type": "dispatch", "dispatchable": name, "bindings": bindings}


def slicing():
    resources = {"in": sequence(12, 1, 1), "out": constant(4)}
    commands = [dispatch("crop", InputTensor="in", OutputTensor="out"), {"type": "print", "resource": "out"}]
    return model_of(resources, {"crop": json.loads(json.dumps(SLICE))}, commands)


def written(folder, model):
    path = folder / "model.json"
    path.write_text(model if isinstance(model, str) else json.dumps(model))
    return path


def lines(folder, model, **options):
    """What a model prints, without times and the device."""
    said = []
    dml.run(dml.load(written(folder, model)), write=said.append, **{"device": "host"} | options)
    return [line for line in said if not line.startswith(("Running on", "Dispatch"))]


def printed(folder, resource):
    (line,) = lines(folder, model_of({"x": resource}, commands=[{"type": "print", "resource": "x"}]))
    return line.removeprefix("Resource 'x': ")


def test_a_model_prints_as_dxdispatch_does(tmp_path, capsys, device):
    name = getattr(device, "name", device)
    assert main(["run", str(written(tmp_path, slicing())), "-a", name]) == 0
    said = capsys.readouterr()
    running, dispatched, out = said.out.splitlines()
    assert running.startswith("Running on '") and dispatched.startswith("Dispatch 'crop': 1 iterations, ")
    assert dispatched.endswith(" ms median (CPU)") and out == "Resource 'out': 10, 12, 2, 4" and said.err == ""


JOIN = {
    "type": "JOIN",
    "desc": {
        "InputCount": 3,
        "InputTensors": [{"DataType": "UINT16", "Sizes": [n]} for n in (2, 3, 1)],
        "OutputTensor": {"DataType": "UINT16", "Sizes": [6]},
        "Axis": 0,
    },
}


def test_parts_of_resources(tmp_path):
    """A resource bound twice, from an element on."""
    resources = {"a": sequence(20, 1, 1, "UINT16"), "b": listed([100, 200, 300], "UINT16"), "out": constant(6, 0, "UINT16")}
    parts = [{"name": "a", "elementCount": 2, "elementOffset": 8}, "b", {"name": "a", "elementOffset": 16}]
    commands = [dispatch("j", InputTensors=parts, OutputTensor="out"), {"type": "print", "resource": "out"}]
    assert lines(tmp_path, model_of(resources, {"j": JOIN}, commands)) == ["Resource 'out': 9, 10, 100, 200, 300, 17"]


def test_resources_keep_what_commands_write(tmp_path):
    """Commands run in order, on buffers that stay; a resource of floats can be bound as integers."""
    tile = {
        "type": "DML_OPERATOR_TILE",
        "desc": {
            "InputTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, 2]},
            "OutputTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, 4]},
            "RepeatsCount": 4,
            "Repeats": [1, 1, 1, 2],
        },
    }
    show = {"type": "print", "resource": "b"}
    commands = [
        show,
        dispatch("t", InputTensor="a", OutputTensor="b"),
        show,
        dispatch("t", InputTensor="b", OutputTensor="b"),
        show,
    ]
    resources = {"a": listed([1.5, "nan"]), "b": constant(5, 9)}
    assert lines(tmp_path, model_of(resources, {"t": tile}, commands)) == [
        "Resource 'b': 9, 9, 9, 9, 9",
        "Resource 'b': 1.5, nan, 1.5, nan, 9",
        "Resource 'b': 1.5, nan, 1.5, nan, 9",
    ]


def test_strides_in_a_model(tmp_path):
    tensors = {
        "InputTensor": {
            "Type": "BUFFER",
            "Desc": {"DataType": "INT8", "Sizes": [2, 3], "DimensionCount": 2, "Flags": ["NONE"]},
        },
        "OutputTensor": {
            "DataType": "DML_TENSOR_DATA_TYPE_INT8",
            "Sizes": [2, 3],
            "Strides": [1, 3],
            "TotalTensorSizeInBytes": 0,
        },
    }
    model = model_of(
        {"a": sequence(6, 0, 1, "INT8"), "b": constant(12, -1, "INT8")},
        {"transpose": {"Type": "ELEMENT_WISE_IDENTITY", **tensors, "ScaleBias": None}},
        [dispatch("transpose", InputTensor="a", OutputTensor="b"), {"type": "print", "resource": "b"}],
    )
    assert lines(tmp_path, model) == ["Resource 'b': 0, 3, -1, 1, 4, -1, 2, 5, -1, -1, -1, -1"]


def test_tensors_owned_by_directml_are_bound_and_copied_first(tmp_path):
    identity = {
        "type": "ELEMENT_WISE_IDENTITY",
        "desc": {
            "InputTensor": {"DataType": "INT32", "Sizes": [2], "Flags": ["OWNED_BY_DML"]},
            "OutputTensor": {"DataType": "INT32", "Sizes": [2]},
        },
        "bindings": {"InputTensor": "a"},
        "executionFlags": ["DESCRIPTORS_VOLATILE"],
        "dmlCompileType": "DmlCompileGraph",
    }
    fill = {
        "type": "FILL_VALUE_CONSTANT",
        "OutputTensor": {"DataType": 6, "Sizes": [2]},
        "ValueDataType": "INT32",
        "Value": {"Int32": 7},
    }
    commands = [dispatch("fill", OutputTensor="a"), dispatch("copy", OutputTensor="b")]
    show = [{"type": "print", "resource": name} for name in "ab"]
    model = model_of(
        {"a": listed([1, 2], "INT32"), "b": constant(2, 0, "INT32")}, {"copy": identity, "fill": fill}, commands + show
    )
    assert lines(tmp_path, model) == ["Resource 'a': 7, 7", "Resource 'b': 1, 2"]
    model["commands"] = [dispatch("copy", InputTensor="a", OutputTensor="b")]
    with pytest.raises(
        dml.DirectMLError, match="InputTensor.Flags is OWNED_BY_DML; allowed: to be bound by the dispatchable's own"
    ):
        lines(tmp_path, model)


@pytest.mark.parametrize(
    "resource, text",
    [
        (sequence(4, 1, 2.5), "1, 3.5, 6, 8.5"),
        (sequence(3, 254, 1, "UINT8"), "254, 255, 0"),
        (sequence(3, 0.1, 0.1), "0.1, 0.2, 0.3"),
        (listed([65504, -65504, 4, "NaN", "inf", "-INF"], "FLOAT16"), "65504, -65504, 4, nan, inf, -inf"),
        (listed([1e10, 1.23456789, 1e-7, 123456789, -0.0]), "1e+10, 1.23457, 1e-07, 1.23457e+08, -0"),
        (listed([2**63 - 1, -(2**63)], "INT64"), "9223372036854775807, -9223372036854775808"),
        (listed([2**64 - 1], 10), "18446744073709551615"),
        (listed([1, 2], "FLOAT16", sizeInBytes=64), "1, 2"),
        (listed([1, 2, 3], "UINT16", initialValuesOffsetInBytes=2), "0, 1, 2"),
        (listed([1, 2, 3], "UINT16", initialValuesOffsetInBytes=0), "1, 2, 3"),
        (listed([1e300], "FLOAT64"), "1e+300"),
        (listed([10**400, -(10**400)], "FLOAT64"), "inf, -inf"),
        (listed([1e300]), "inf"),
        (constant(3, "nan"), "nan, nan, nan"),
    ],
)
def test_first_values(tmp_path, resource, text):
    assert printed(tmp_path, resource) == text


def test_sequences_add_up_in_their_type(tmp_path):
    """As DxDispatch: each value is the one before plus delta, rounded to the type."""
    model = dml.load(written(tmp_path, model_of({"x": sequence(5000, 0.1, 0.1, "FLOAT16")})))
    values, value = [], np.float16(0.1)
    for _ in range(5000):
        values.append(value)
        value = np.float16(value + np.float16(0.1))
    assert dml.run(model, device="host")["x"].tobytes() == np.array(values).tobytes()


def test_values_of_several_types(tmp_path):
    mixed = [{"name": "n", "type": "UINT32", "value": 6}, {"type": "FLOAT32", "value": 1.5}, {"type": "INT8", "value": -1}]
    model = model_of({"x": {"initialValues": mixed, "sizeInBytes": 16}})
    result = dml.run(dml.load(written(tmp_path, model)), device="host")["x"]
    assert result.tobytes() == b"\6\0\0\0\0\0\xc0\x3f\xff" + bytes(7)
    model["commands"] = [{"type": "print", "resource": "x"}]
    with pytest.raises(dml.DirectMLError, match="print of x: values of several types"):
        lines(tmp_path, model)


def test_verbose(tmp_path):
    model = model_of({"x": listed([1.5, -2, *[0] * 9])}, commands=[{"type": "print", "resource": "x", "verbose": True}])
    first, second, third, *_ = lines(tmp_path, model)[0].splitlines()
    assert (first, second, third) == ("Resource 'x':", "[ 0] 1.5 (0x3FC00000)", "[ 1] -2 (0xC0000000)")


def test_files(tmp_path, monkeypatch):
    """Beside the model, else in the current folder; written to the current folder."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    np.save(tmp_path / "a.npy", np.arange(6, dtype=np.int16).reshape(2, 3, order="F"))
    (here / "b.bin").write_bytes(np.float32([1, 2, 3]).tobytes())
    resources = {"a": {"initialValues": {"sourcePath": "a.npy"}}, "b": listed({"sourcePath": "b.bin"})}
    commands = [
        {"type": "print", "resource": "a"},
        {"type": "writeFile", "resource": "a", "targetPath": "deep/a.npy", "dimensions": [3, 2]},
        {"type": "writeFile", "resource": "b", "targetPath": "b.npy"},
        {"type": "writeFile", "resource": "b", "targetPath": "b.dat"},
    ]
    assert lines(tmp_path, model_of(resources, commands=commands)) == [
        "Resource 'a': 0, 2, 4, 1, 3, 5",
        "Resource 'a' written to 'deep/a.npy'",
        "Resource 'b' written to 'b.npy'",
        "Resource 'b' written to 'b.dat'",
    ]
    assert np.load(here / "deep/a.npy").tolist() == [[0, 2], [4, 1], [3, 5]]
    assert np.load(here / "b.npy").tolist() == [1, 2, 3]
    assert (here / "b.dat").read_bytes() == (here / "b.bin").read_bytes()


def test_comments_and_last_commas(tmp_path):
    text = '// a "comment"\n{"$schema": "x", "resources": '
    text += '{"x": {"initialValuesDataType": "INT8", "initialValues": [1, /* 2, */ 3, ], } },'
    text += '"dispatchables": { }, "commands": [{"type": "print", "resource": "x"}], }'
    assert lines(tmp_path, text) == ["Resource 'x': 1, 3"]
    strings = (
        '{"resources": {"//,]": {"initialValuesDataType": "INT8", "initialValues": [1]}}, "dispatchables": {}, "commands": []}'
    )
    assert list(dml.load(written(tmp_path, strings)).resources) == ["//,]"]


def test_dump_and_load(tmp_path):
    """What is written is read again as the same model."""
    np.save(tmp_path / "a.npy", np.zeros(3, np.float32))
    model = slicing()
    model["dispatchables"] |= {"j": JOIN}
    tensor = {
        "DataType": "FLOAT16",
        "Sizes": [2, 2],
        "Strides": [5, 2],
        "TotalTensorSizeInBytes": 32,
        "GuaranteedBaseOffsetAlignment": 16,
    }
    x = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]}
    model["dispatchables"] |= {
        "fill": {
            "type": "FILL_VALUE_CONSTANT",
            "desc": {"OutputTensor": tensor, "ValueDataType": "FLOAT16", "Value": {"UInt16": 32257}},
        },
        "up": {
            "type": "UPSAMPLE_2D",
            "InputTensor": x,
            "OutputTensor": x,
            "ScaleSize": {"Width": 1, "Height": 1},
            "InterpolationMode": 0,
        },
        "pad": {
            "type": "PADDING",
            "desc": {
                "InputTensor": x,
                "OutputTensor": x,
                "PaddingMode": "CONSTANT",
                "PaddingValue": "-inf",
                "DimensionCount": 4,
            }
            | dict.fromkeys(("StartPadding", "EndPadding"), [0, 0, 0, 0]),
        },
        "band": {
            "type": "DIAGONAL_MATRIX1",
            "desc": {
                "OutputTensor": tensor,
                "ValueDataType": "FLOAT16",
                "Value": 1,
                "DiagonalFillBegin": -1,
                "DiagonalFillEnd": 1,
            },
        },
        "scaled": {
            "type": "ELEMENT_WISE_IDENTITY",
            "desc": {"InputTensor": x, "OutputTensor": x, "ScaleBias": {"Scale": 1, "Bias": 2}},
        },
    }
    model["dispatchables"]["up"]["bindings"] = {"InputTensor": {"name": "in", "elementOffset": 4, "elementSizeInBytes": 8}}
    model["resources"] |= {
        "file": listed({"sourcePath": "a.npy"}),
        "list": listed([1.5, "nan", "-inf"], sizeInBytes=99, initialValuesOffsetInBytes=3),
        "mixed": {"initialValues": [{"type": "INT8", "value": 1}, {"type": "FLOAT64", "value": "inf"}]},
    }
    model["commands"] += [
        {"type": "print", "resource": "list", "verbose": True},
        {"type": "writeFile", "resource": "list", "targetPath": "x.npy", "dimensions": [3, 1]},
        dispatch("j", InputTensors=["in", {"name": "in", "elementCount": 1}, "in"], OutputTensor="out"),
    ]
    loaded = dml.load(written(tmp_path, model))
    dml.dump(loaded, tmp_path / "again.json")
    again = dml.load(tmp_path / "again.json")
    assert repr(again) == repr(loaded)  # since nan is not nan
    assert again.dispatchables == loaded.dispatchables and again.commands == loaded.commands
    assert math.isinf(again.dispatchables["pad"].PaddingValue) and again.dispatchables["fill"].Value == b"\x01\x7e"


def test_a_model_made_in_python():
    """On a buffer that ends within an element."""
    x = dml.TENSOR_DESC("INT32", [2])
    model = dml.Model(
        {
            "a": dml.Resource(dml.DML_TENSOR_DATA_TYPE.INT32, dml.SequenceValues(2, 5, -3), size_in_bytes=10),
            "b": dml.Resource(dml.DML_TENSOR_DATA_TYPE.INT32, dml.ConstantValues(2, 0)),
        },
        {"copy": dml.ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, x)},
        [dml.Dispatch("copy", {"InputTensor": [dml.Binding("a")], "OutputTensor": [dml.Binding("b")]})],
    )
    results = dml.run(model, device="host")
    assert {name: array.tolist() for name, array in results.items()} == {"a": [5, 2], "b": [5, 2]}


@pytest.mark.parametrize(
    "command, message",
    [
        (dml.Print("c"), "Print: a name is 'c'; allowed: a, b"),
        (dml.WriteFile("c", "file"), "WriteFile: a name is 'c'; allowed: a, b"),
        (dml.Dispatch("move", {}), "dispatch: a name is 'move'; allowed: copy"),
        (dml.Dispatch("copy", {"Input": []}), "bindings of copy: a name is 'Input'; allowed: InputTensor, OutputTensor"),
        (dml.Dispatch("copy", {"InputTensor": [dml.Binding("c")]}), "bindings of copy: a name is 'c'; allowed: a, b"),
        (dml.Dispatch("copy", {"InputTensor": []}), "len(InputTensor) is 0; allowed: 1, as many as there are tensors"),
    ],
)
def test_names_that_a_model_made_in_python_does_not_have(command, message):
    x = dml.TENSOR_DESC("INT32", [2])
    values = dml.Resource(dml.DML_TENSOR_DATA_TYPE.INT32, dml.ConstantValues(2, 0))
    copy = dml.ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, x)
    with pytest.raises(dml.DirectMLError) as error:
        dml.run(dml.Model({"a": values, "b": values}, {"copy": copy}, [command]), device="host")
    assert message in str(error.value)


def test_a_path_is_no_model():
    with pytest.raises(TypeError, match=r"model is str; allowed: a Model, as dmlops\.directml\.load reads"):
        dml.run("model.json")


def changed(*path, to=None, model=slicing):
    """A good model with one thing changed; `to` may be a function of the object that `path` leads to."""
    result = model() if callable(model) else json.loads(json.dumps(model))
    place = result
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = to
    return result


DESC = ("dispatchables", "crop", "desc")
NO_NAME = "No such file" if os.name == "nt" else "allowed: the name of a file"  # half a character
HOSTILE = [
    (changed("commands", 1, "verbose", to=1), "commands[1].verbose is 1; allowed: true or false"),
    (
        changed("resources", "out", to={"initialValues": [{"type": "INT4", "value": 1}]}),
        "initialValues[0].type is 'INT4'; allowed",
    ),
    (changed(*DESC, "InputTensor", "Strides", to=0), "InputTensor.Strides is 0; allowed: a sequence"),
    ("", "model.json is no JSON: Expecting value at line 1, column 1"),
    ("{", "model.json is no JSON: Expecting property name enclosed in double quotes at line 1, column 2"),
    ('{"resources": {}\n"commands": []}', "Expecting ',' delimiter at line 2, column 1, before '\"commands\": []}'"),
    ("[]", "the file is []; allowed: an object, {...}"),
    ("[" * 100_000, "model.json is nested too deeply"),
    ("{}", "resources is missing; allowed: present"),
    ("null", "the file is None; allowed: an object"),
    ('{"resources": NaN}', 'NaN is not a number in JSON; write "nan" as a string'),
    ('{"resources": -Infinity}', 'write "-inf" as a string'),
    ('{"resources": ' + "9" * 5000 + "}", "is no JSON: Exceeds the limit"),
    ('{"resources": {}, "resources": {}}', "the name 'resources' stands twice in one object"),
    ('{"resources": "\\ud800"', "is no JSON"),
    (changed("resources", to=[]), "resources is []; allowed: an object"),
    (changed("commands", to={}), "commands is {}; allowed: an array"),
    (changed("commands", to=[{"type": "explode"}]), "commands[0].type is 'explode'; allowed: dispatch, print, writeFile"),
    (changed("commands", to=[{"type": "print", "resource": "gone"}]), "commands[0].resource is 'gone'; allowed: 'in', 'out'"),
    (changed("commands", to=[dispatch("gone")]), "commands[0].dispatchable is 'gone'; allowed: 'crop'"),
    (
        changed("commands", 0, "bindings", "InputTensor", to="gone"),
        "commands[0].bindings.InputTensor is 'gone'; allowed: 'in', 'out'",
    ),
    (
        changed("commands", 0, "bindings", "Tensor", to="in"),
        "a name in commands[0].bindings is 'Tensor'; allowed: InputTensor, Out",
    ),
    (
        changed("commands", 0, "bindings", "InputTensor", to=["in", "in"]),
        "allowed: 1 of resources, as many as InputTensor has tensors",
    ),
    (changed("commands", 0, "bindings", to={"InputTensor": "in"}), "bindings.OutputTensor is missing; allowed: a resource"),
    (
        changed("commands", 0, "bindings", "InputTensor", to={"name": "in", "elementOfset": 4}),
        "is 'elementOfset'; allowed: name",
    ),
    (
        changed("commands", 0, "bindings", "InputTensor", to={"name": "in", "elementOffset": 4}),
        "InputTensor is 32 bytes of 'in'; allowed: 48 bytes or more",
    ),
    (
        changed("commands", 0, "bindings", "InputTensor", to={"name": "in", "elementOffset": 1}),
        "InputTensor.elementOffset is 4 bytes; allowed: a multiple of 16 bytes",
    ),
    (
        changed("commands", 0, "bindings", "InputTensor", to={"name": "in", "elementCount": 2**63}),
        "the end of its elements is byte 36893488147419103232; allowed: up to 48, of 'in'",
    ),
    (
        changed("commands", 0, "bindings", "InputTensor", to={"name": "in", "elementOffset": -4}),
        "elementOffset is -4; allowed: an unsi",
    ),
    (changed("commands", 0, "bindings", "InputTensor", to=7), "commands[0].bindings.InputTensor is 7; allowed: an object"),
    (changed("commands", 0, "bindings", "OutputTensor", to="in"), None),
    (changed("resources", "out", to=constant(3)), "OutputTensor is 12 bytes of 'out'; allowed: 16 bytes or more"),
    (changed("resources", "out", to=constant(0)), "valueCount is 0; allowed: an integer from 1 to 4294967295"),
    (changed("resources", "out", to=constant(2**32)), "valueCount is 4294967296; allowed"),
    (changed("resources", "out", to=constant(-1)), "valueCount is -1; allowed"),
    (changed("resources", "out", to=constant(1.5)), "valueCount is 1.5; allowed"),
    (changed("resources", "out", to=constant(4, None)), "resources.out.initialValues.value is None; allowed: a number"),
    (
        changed("resources", "out", to=constant(4, "infinity")),
        'value is \'infinity\'; allowed: a number, "nan", "inf" or "-inf"',
    ),
    (
        changed("resources", "out", to=constant(4, "nan", "INT8")),
        "value is 'nan'; allowed: an integer from -128 to 127, as INT8",
    ),
    (changed("resources", "out", to=constant(4, 128, "INT8")), "value is 128; allowed: an integer from -128 to 127, as INT8"),
    (changed("resources", "out", to=constant(4, 1.0, "INT8")), "value is 1.0; allowed: an integer"),
    (
        changed("resources", "out", to=constant(4, 0, "FLOAT33")),
        "initialValuesDataType is 'FLOAT33'; allowed: UNKNOWN (0), FLOAT32",
    ),
    (
        changed("resources", "out", to=constant(4, 0, "UINT4")),
        "initialValuesDataType is 'UINT4'; allowed: a data type of 8 to 64 bits",
    ),
    (changed("resources", "out", to=constant(4, sizeInBytes=8)), "sizeInBytes is 8; allowed: 16 or more"),
    (
        changed("resources", "out", to=constant(4, sizeInBytes=2**64)),
        "sizeInBytes is 18446744073709551616; allowed: an unsigned 64",
    ),
    (changed("resources", "out", to=constant(4, sizeInBytes=2**60)), "too little memory: the model's resources take"),
    (changed("resources", "out", to=constant(4, initialValuesOffsetInBytes=2**62)), "too little memory"),
    (
        changed("resources", to={f"r{i}": constant(2**32 - 1, 0, "FLOAT64") for i in range(3000)} | slicing()["resources"]),
        "too little mem",
    ),
    (changed("resources", "out", to=listed([])), "initialValues is []; allowed: one value or more"),
    (changed("resources", "out", to=listed([[1]])), "resources.out.initialValues[0] is [1]; allowed: a number"),
    (changed("resources", "out", to=listed([True])), "initialValues[0] is True"),
    (changed("resources", "out", to=listed("deferred")), "deferred resources belong to ONNX models"),
    (
        changed("resources", "out", to=listed({"value": 1, "valueStart": 1})),
        "an object with one of value, valueStart and sourcePath",
    ),
    (
        changed("resources", "out", to={"initialValues": {"valueCount": 1, "value": 1}}),
        "values beside an initialValuesDataType",
    ),
    (changed("resources", "out", to=listed({"sourcePath": "gone.npy"})), "resources.out: gone.npy: No such file or directory"),
    (changed("resources", "out", to=listed({"sourcePath": "."})), "resources.out: . is no file"),
    (changed("resources", "out", to=listed({"sourcePath": "a\0b.npy"})), "allowed: the name of a file"),
    (changed("resources", "out", to=listed({"sourcePath": "a\ud800.npy"})), NO_NAME),
    (
        changed("resources", "out", to=listed({"sourcePath": "model.json"}, "UNKNOWN")),
        "a .npy file where there is no initialValuesD",
    ),
    (changed("resources", "out", to=listed({"sourcePath": "cat.jpg"})), "reading an image computes"),
    (changed("resources", "out", "sizeinbytes", to=1), "a name in resources.out is 'sizeinbytes'; allowed: initialValues"),
    (changed("resources", "out", to=7), "resources.out is 7; allowed: an object"),
    (changed("resources", "out", "type", to="texture"), "resources.out.type is 'texture'; allowed: \"buffer\""),
    (
        changed("dispatchables", "crop", "type", to="DML_OPERATOR_GEMM"),
        "dispatchables.crop: DML_OPERATOR_GEMM computes: it is not data movement",
    ),
    (
        changed("dispatchables", "crop", "type", to="ELEMENT_WISE_ADD"),
        "DML_OPERATOR_ELEMENT_WISE_ADD computes: it is not data movement",
    ),
    (
        changed("dispatchables", "crop", "type", to="FOLD"),
        "DML_OPERATOR_FOLD computes: it is not data movement",
    ),
    (changed("dispatchables", "crop", "type", to="SLICE2"), "'SLICE2' is no operator of DirectML; allowed: SLICE, SLICE1"),
    (
        changed("dispatchables", "crop", "type", to="hlsl"),
        "dispatchables.crop: hlsl is a program that computes: it is not data mov",
    ),
    (changed("dispatchables", "crop", "type", to="onnx"), "dispatchables.crop: onnx is a program that computes"),
    (changed("dispatchables", "crop", "type", to=7), "dispatchables.crop.type is 7; allowed: a string"),
    (changed("dispatchables", "crop", to={}), "dispatchables.crop.type is missing"),
    (changed(*DESC, to={}), "dispatchables.crop.desc.InputTensor is missing; allowed: present"),
    (changed(*DESC, to=[]), "dispatchables.crop.desc is []; allowed: an object"),
    (
        changed(*DESC, "Stride", to=[1]),
        "a name in dispatchables.crop.desc is 'Stride'; allowed: InputTensor, OutputTensor, DimensionC",
    ),
    (
        changed(*DESC, "InputTensor", "Stride", to=[1]),
        "a name in dispatchables.crop.desc.InputTensor is 'Stride'; allowed: DataType",
    ),
    (
        changed(*DESC, "InputTensor", "Sizes", to=[3, -4]),
        "dispatchables.crop.desc.InputTensor.Sizes[1] is -4; allowed: an unsigned",
    ),
    (
        changed(*DESC, "InputTensor", "DataType", to="nan"),
        "dispatchables.crop.desc.InputTensor.DataType is 'nan'; allowed: UNKNOWN",
    ),
    (changed(*DESC, "InputTensor", "DimensionCount", to=4), "InputTensor.DimensionCount is 4; allowed: 2, as many as in Sizes"),
    (changed(*DESC, "InputTensor", "Type", to="TEXTURE"), "InputTensor.Type is 'TEXTURE'; allowed: BUFFER"),
    (changed(*DESC, "InputTensor", "Flags", to=["MINE"]), "InputTensor.Flags[0] is 'MINE'; allowed: NONE, OWNED_BY_DML"),
    (
        changed(*DESC, "DimensionCount", to="2"),
        "dispatchables.crop.desc.DimensionCount is '2'; allowed: an unsigned 32-bit integer",
    ),
    (
        changed(*DESC, "InputWindowStrides", to=[2, 0]),
        "dispatchables.crop: DML_SLICE1_OPERATOR_DESC at feature level 6_4: InputWindowS",
    ),
    (changed(*DESC, "InputTensor", "Sizes", to=[2**32 - 1] * 8), "at most 4294967295 elements"),
    (changed(*DESC, "InputWindowOffsets", to=[0] * 10_000), "len(InputWindowOffsets) is 10000; allowed: 2"),
]
SHORT_NAMES = [f"{index}-{str(message)[:30]}" for index, (_, message) in enumerate(HOSTILE)]


@pytest.mark.parametrize("model, message", HOSTILE, ids=SHORT_NAMES)
def test_hostile_models_end_in_one_line(tmp_path, capsys, model, message):
    path = written(tmp_path, model)
    status = main(["run", str(path), "-a", "host"])
    said = capsys.readouterr()
    if message is None:
        assert (status, said.err) == (0, "")
        return
    assert status == 1 and said.err.count("\n") == 1 and said.err.startswith(f"dmlops run: {path}: ")
    assert message in said.err, said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    "text", ['"\\\\"' * 40_000 + '"x', '"' + '\\"' * 100_000, "/* " * 100_000, ", " * 100_000, "{" + " " * 300_000]
)
def test_hostile_text_takes_no_longer_than_it_is_long(tmp_path, text):
    """Else the time limit of the tests would end this one."""
    with pytest.raises(dml.DirectMLError, match="is no JSON"):
        dml.load(written(tmp_path, text))


def test_tensors_of_absurd_rank(tmp_path, capsys):
    sizes = [1] * 200_000
    tensors = {"InputTensor": {"DataType": "INT8", "Sizes": sizes}, "OutputTensor": {"DataType": "INT8", "Sizes": sizes}}
    path = written(tmp_path, model_of({}, {"copy": {"type": "ELEMENT_WISE_IDENTITY", "desc": tensors}}))
    for level in ("6_4", "none"):
        assert main(["run", str(path), "-a", "host", "-l", level]) == 1
        said = capsys.readouterr().err
        assert "InputTensor.DimensionCount is 200000; allowed: at most" in said
    tensors["InputTensor"]["Sizes"] = tensors["OutputTensor"]["Sizes"] = [0] * 60
    path = written(tmp_path, model_of({}, {"copy": {"type": "ELEMENT_WISE_IDENTITY", "desc": tensors}}))
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        assert main(["run", str(path), "-a", "host"]) == 1
        assert "; and " in (said := capsys.readouterr().err) and said.endswith(" more\n")


def test_names_cannot_write_to_the_terminal(tmp_path, capsys):
    name = "\x1b[2J\n\ud800" + "x" * 10_000
    for model in (model_of({name: 7}), model_of({}, {name: {"type": "GEMM"}})):
        assert main(["run", str(written(tmp_path, model))]) == 1
        said = capsys.readouterr().err
        assert "\x1b" not in said and said.count("\n") == 1 and len(said) < 5000


UPSAMPLE = {
    "type": "UPSAMPLE_2D",
    "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
    "InterpolationMode": 0,
}


def fill_of(**fields):
    desc = {"OutputTensor": {"DataType": "FLOAT16", "Sizes": [2]}, "ValueDataType": "FLOAT16", "Value": 1} | fields
    return model_of({}, {"f": {"type": "FILL_VALUE_CONSTANT", "desc": desc}})


@pytest.mark.parametrize(
    "model, message",
    [
        (fill_of(Value={"Float32": 1}), "a name in dispatchables.f.desc.Value is 'Float32'; allowed: UInt16"),
        (fill_of(Value={}), "dispatchables.f.desc.Value.UInt16 is missing"),
        (fill_of(Value={"UInt16": 65536}), "Value.UInt16 is 65536; allowed: an integer from 0 to 65535"),
        (fill_of(Value=None), "Value is None; allowed: a number"),
        (fill_of(ValueDataType="FLOAT8"), "dispatchables.f.desc.ValueDataType is 'FLOAT8'; allowed"),
        (fill_of(ValueDataType=[]), "dispatchables.f.desc.ValueDataType is []; allowed"),
        (
            model_of({}, {"f": UPSAMPLE | {"ScaleSize": {"Width": -1, "Height": 1}}}),
            "dispatchables.f.ScaleSize.Width is -1; allowed: an",
        ),
        (model_of({}, {"f": UPSAMPLE | {"ScaleSize": {"Width": 1}}}), "dispatchables.f.ScaleSize.Height is missing"),
        (fill_of(OutputTensor=None), "dispatchables.f.desc.OutputTensor is None; allowed: an object"),
    ],
)
def test_hostile_scalars(tmp_path, model, message):
    with pytest.raises(dml.DirectMLError) as caught:
        dml.load(written(tmp_path, model))
    assert message in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "is no .npy file that dmlops reads"),
        (b"\x93NUMPY\x01\x00\xff\xff", "is no .npy file that dmlops reads"),
        (b"\x80\x04\x95", "is no .npy file that dmlops reads"),
        (None, "is no .npy file that dmlops reads"),
        ("zip", "is no .npy file that dmlops reads"),
        (b"PK\x03\x04", "is no .npy file that dmlops reads"),
    ],
)
def test_hostile_npy_files(tmp_path, content, message):
    """Also a header that promises terabytes, which are not allocated."""
    path = tmp_path / "x.npy"
    if content == "zip":
        packed = io.BytesIO()
        np.savez(packed, a=np.zeros(3))
        content = packed.getvalue()
    elif content is None:
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }"
        content = b"\x93NUMPY\x01\x00" + (117 + 1).to_bytes(2, "little") + header.ljust(117) + b"\n" + bytes(64)
    path.write_bytes(content)
    with pytest.raises(dml.DirectMLError, match=message):
        dml.load(written(tmp_path, model_of({"x": {"initialValues": {"sourcePath": "x.npy"}}})))


@pytest.mark.filterwarnings("error")
def test_npy_files_with_a_wrong_byte(tmp_path):
    """NumPy reads the header as Python: a wrong byte there is an error of the tokenizer, of the parser or of the compiler."""
    path, model = tmp_path / "x.npy", written(tmp_path, model_of({"x": {"initialValues": {"sourcePath": "x.npy"}}}))
    np.save(path, np.zeros((2, 3), np.float32))
    whole, refused = path.read_bytes(), 0
    for position in range(len(whole) - 24):
        for byte in b"\0\t\n \"'(),-0:[\\]aT{}\xff":
            path.write_bytes(whole[:position] + bytes([byte]) + whole[position + 1 :])
            try:
                dml.load(model)
            except dml.DirectMLError as error:
                refused += 1
                assert str(error).startswith("resources.x: ")
    assert refused > 1000
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(dml.DirectMLError, match="x.npy is no .npy file"):
            dml.load(model)


def every_value(model, place=()):
    """The places of all values in a model."""
    yield place
    for key, entry in model.items() if isinstance(model, dict) else enumerate(model) if isinstance(model, list) else ():
        yield from every_value(entry, (*place, key))


STRANGE = [
    None,
    True,
    -1,
    2**70,
    0.5,
    "",
    "\ud800",
    "\x1b[31m",
    "a\0b",
    [],
    [{}],
    [[]],
    [None],
    ["\ud800"],
    {},
    {"": {}},
    {"a": [{}]},
]


@pytest.mark.parametrize("strange", STRANGE, ids=ascii)
def test_strange_values_anywhere_end_in_one_line(tmp_path, monkeypatch, capsys, strange):
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.zeros(4, np.float32))
    model = slicing()
    model["resources"]["file"] = {"initialValues": {"sourcePath": "a.npy"}, "sizeInBytes": 64, "initialValuesOffsetInBytes": 4}
    model["dispatchables"]["crop"]["desc"]["InputTensor"]["Flags"] = ["NONE"]
    model["dispatchables"] |= fill_of()["dispatchables"]
    model["commands"] += [{"type": "writeFile", "resource": "file", "targetPath": "b.npy", "dimensions": [2, 2]}]
    for place in every_value(model):
        changed_model = json.loads(json.dumps(model))
        if place:
            *outer, last = place
            functools.reduce(operator.getitem, outer, changed_model)[last] = strange
        else:
            changed_model = strange
        status = main(["run", str(written(tmp_path, json.dumps(changed_model))), "-a", "host"])
        said = capsys.readouterr()
        assert status == 0 or (status == 1 and said.err.startswith("dmlops run: ") and said.err.count("\n") == 1), place
        assert (said.out + said.err).replace("\n", "").isprintable(), place


@pytest.mark.posix
def test_names_are_printed_with_escapes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model = model_of(
        {"a\x1b[31m\ud800\u202e": constant(2)},
        commands=[
            {"type": "print", "resource": "a\x1b[31m\ud800\u202e"},
            {"type": "writeFile", "resource": "a\x1b[31m\ud800\u202e", "targetPath": "x\r.bin"},
        ],
    )
    assert main(["run", str(written(tmp_path, model)), "-a", "host"]) == 0
    _, printed, wrote = capsys.readouterr().out.splitlines()
    assert printed == r"Resource 'a\x1b[31m\ud800\u202e': 0, 0"
    assert wrote == r"Resource 'a\x1b[31m\ud800\u202e' written to 'x\r.bin'" and (tmp_path / "x\r.bin").exists()


@pytest.mark.parametrize(
    "array, named", [(np.zeros(3, "S3"), "UNKNOWN"), (np.zeros(3, ">f4"), "UNKNOWN"), (np.zeros(3, "f4"), "INT32")]
)
def test_npy_files_of_the_wrong_type(tmp_path, array, named):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(dml.DirectMLError, match=r"x\.npy holds .*; allowed: "):
        dml.load(written(tmp_path, model_of({"x": listed({"sourcePath": "x.npy"}, named)})))


def test_files_that_cannot_be_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for target, message in [
        ("model.json/x.npy", "model.json"),
        ("x.png", "writing an image computes"),
        ("", "the name of a file"),
    ]:
        commands = [{"type": "writeFile", "resource": "x", "targetPath": target}]
        assert main(["run", str(written(tmp_path, model_of({"x": listed([1])}, commands=commands))), "-a", "host"]) == 1
        assert message in capsys.readouterr().err
    commands = [{"type": "writeFile", "resource": "x", "targetPath": "x.npy", "dimensions": [2, 2]}]
    with pytest.raises(dml.DirectMLError, match="dimensions is .2, 2.; allowed: dimensions of 1 elements"):
        lines(tmp_path, model_of({"x": listed([1])}, commands=commands))


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["-a", "no such device"], "device='no such device' matches no device"),
        (["-l", "9_9"], "feature_level is '9_9'; allowed: 1_0"),
        (["-l", "2_1", "-a", "host"], "InputTensor.DimensionCount is 2; allowed: 4 to 5 at feature level 2_1"),
    ],
)
def test_options(tmp_path, capsys, arguments, message):
    path = written(tmp_path, slicing())
    assert main(["run", str(path), *arguments]) == 1
    assert message in capsys.readouterr().err
    assert main(["run", str(path), "-l", "none", "-a", "host"]) == 0


def test_files_without_values(tmp_path):
    (tmp_path / "empty.bin").write_bytes(b"")
    with pytest.raises(dml.DirectMLError, match="resources.x: initialValues is empty; allowed: one value or more"):
        dml.load(written(tmp_path, model_of({"x": listed({"sourcePath": "empty.bin"})})))


@pytest.mark.slow
def test_a_pipe_that_closes(tmp_path):
    """`python -m dmlops run ... | head -1`: no traceback."""
    commands = [{"type": "print", "resource": "x"}] * 100
    path = written(tmp_path, model_of({"x": constant(1000)}, commands=commands))
    code = f"""
        import subprocess, sys
        command = [sys.executable, "-m", "dmlops", "run", {str(path)!r}, "-a", "host"]
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        run.stdout.read(10)
        run.stdout.close()
        assert run.stderr.read() == b"", "something was said"
        assert run.wait() == 1
    """
    run_python(textwrap.dedent(code))


@pytest.mark.posix
def test_files_that_are_no_models(tmp_path, capsys):
    (tmp_path / "latin.json").write_bytes(b'{"resources": "\xe9"}')
    for path, message in [
        (tmp_path / "gone.json", "No such file"),
        (tmp_path, "Is a directory"),
        (tmp_path / "latin.json", "not UTF-8"),
    ]:
        assert main(["run", str(path)]) == 1
        said = capsys.readouterr().err
        assert message in said and said.count("\n") == 1


def test_memory_is_looked_at_before_any_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(runner.dmlops, "memory_info", lambda: dmlops.MemoryInfo(0, 0, 0, 1 << 20))
    monkeypatch.setattr(runner.np, "zeros", pytest.fail)
    with pytest.raises(MemoryError, match="take 2097152 bytes, and 1048576 are available"):
        lines(tmp_path, model_of({"x": constant(1 << 19)}))


@pytest.mark.slow
def test_the_command_in_a_process_of_its_own(tmp_path):
    """Also: no other command imports the package."""
    path = written(tmp_path, slicing())
    done = run_python("", args=("-m", "dmlops", "run", str(path), "--adapter", "host"))
    assert done.stdout.splitlines()[-1] == "Resource 'out': 10, 12, 2, 4"
    code = "import sys, dmlops, dmlops.__main__; assert not any(name.startswith('dmlops.directml') for name in sys.modules)"
    run_python(code)
    done = run_python("", args=("-m", "dmlops", "run", str(tmp_path / "gone.json")), check=False)
    assert done.returncode == 1 and done.stderr == f"dmlops run: {tmp_path / 'gone.json'}: No such file or directory\n"
