#!/usr/bin/env python3
"""Loads the library of the networks and Python's torch in one process, as a program that uses both would.

    tests/torch_test.py LIBRARY

LIBRARY is libcoterie-deep.so. If the loader finds its LibTorch in a Python package, the test imports this package before and after loading LIBRARY,
in two processes. Both must use the same libtorch_cpu. A training step through coterie/deep/network_abi.h must agree with torch. Prints the reason and
exits with 77 if there is no such package.
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys

ABI = 5
SKIPPED = 77
DENSE, LINEAR, SGD, ENCODER = 1, 0, 1, 3


class Layer(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int32) for name in ("kind", "inputs", "outputs", "kernel", "stride", "pad_before", "pad_after", "rows", "columns",
                                                    "activation", "bias")]


class Optimizer(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("part", ctypes.c_int32)] + [
        (name, ctypes.c_double) for name in ("learning_rate", "momentum", "weight_decay", "beta1", "beta2", "epsilon")]


NUMBER, COUNT, FLOATS, HANDLE = ctypes.c_int32, ctypes.c_int64, ctypes.POINTER(ctypes.c_float), ctypes.c_void_p
FUNCTIONS = [  # the functions of coterie_network_api in their order, up to the last one called here
    ("description", ctypes.c_char_p, []),
    ("error", ctypes.c_char_p, []),
    ("has_device", NUMBER, [ctypes.c_char_p]),
    ("keep_memory", None, []),
    ("create", HANDLE, [ctypes.POINTER(Layer), NUMBER, ctypes.POINTER(Layer), NUMBER, NUMBER, NUMBER, NUMBER, ctypes.c_char_p, NUMBER, NUMBER]),
    ("destroy", None, [HANDLE]),
    ("parameters", NUMBER, [HANDLE]),
    ("parameter_size", COUNT, [HANDLE, NUMBER]),
    ("get_parameter", NUMBER, [HANDLE, NUMBER, FLOATS]),
    ("set_parameter", NUMBER, [HANDLE, NUMBER, FLOATS]),
    ("forward", NUMBER, [HANDLE, FLOATS, COUNT, FLOATS, FLOATS, FLOATS, NUMBER, ctypes.c_void_p, FLOATS]),
    ("items_per_block", COUNT, [HANDLE, COUNT]),
    ("reconstruct", NUMBER, [HANDLE, ctypes.c_double, ctypes.POINTER(ctypes.c_double)]),
    ("decode", NUMBER, [HANDLE, FLOATS, COUNT, FLOATS]),
    ("input_gradient", NUMBER, [HANDLE, FLOATS, FLOATS]),
    ("backward", NUMBER, [HANDLE, FLOATS]),
    ("set_optimizers", NUMBER, [HANDLE, ctypes.POINTER(Optimizer), NUMBER]),
    ("step", NUMBER, [HANDLE]),
]


class Api(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_int32)] + [(name, ctypes.CFUNCTYPE(result, *arguments)) for name, result, arguments in FUNCTIONS]


def load(library):
    functions = ctypes.CDLL(library, mode=2).coterie_network_functions  # 2: RTLD_NOW, and local, as coterie loads it
    functions.restype = ctypes.POINTER(Api)
    functions.argtypes = [NUMBER]
    found = functions(ABI)
    assert found, f"{library} has another ABI than {ABI}"
    return found.contents


def floats(tensor):
    return (ctypes.c_float * tensor.numel())(*tensor.flatten().tolist())


def check_step(api, torch):
    """Compares a step of stochastic gradient descent with torch, on a dense layer from 3 numbers to 2."""
    points = torch.arange(12.0).reshape(4, 3) / 7 - 0.5
    weight, bias = torch.arange(6.0).reshape(2, 3) / 5, torch.tensor([0.25, -0.75])
    gradient = torch.arange(8.0).reshape(4, 2) - 3
    parameters = [weight, bias]

    def done(failed):
        assert failed == 0, api.error().decode()

    layer = Layer(kind=DENSE, inputs=3, outputs=2, activation=LINEAR, bias=1)
    network = api.create(ctypes.byref(layer), 1, None, 0, 3, 1, 1, b"cpu", 2, 0)
    assert network, api.error().decode()
    assert api.parameters(network) == 2
    for number, parameter in enumerate(parameters):
        assert api.parameter_size(network, number) == parameter.numel()
        done(api.set_parameter(network, number, floats(parameter)))
    done(api.set_optimizers(network, ctypes.byref(Optimizer(kind=SGD, part=ENCODER, learning_rate=0.5)), 1))
    output = (ctypes.c_float * 8)()
    done(api.forward(network, floats(points), 4, None, None, None, 1, None, output))
    done(api.backward(network, floats(gradient)))
    done(api.step(network))
    moved = []
    for number, parameter in enumerate(parameters):
        values = (ctypes.c_float * parameter.numel())()
        done(api.get_parameter(network, number, values))
        moved.append(torch.tensor(list(values)).reshape(parameter.shape))
    api.destroy(network)

    for parameter in parameters:
        parameter.requires_grad_()
    expected = torch.nn.functional.linear(points, weight, bias)
    expected.backward(gradient)
    torch.optim.SGD(parameters, lr=0.5).step()
    torch.testing.assert_close(torch.tensor(list(output)).reshape(4, 2), expected.detach(), rtol=1e-6, atol=1e-6)
    for found, parameter in zip(moved, parameters):
        torch.testing.assert_close(found, parameter.detach(), rtol=1e-6, atol=1e-6)


def loaded(name):
    """The files mapped into this process whose names begin with `name`."""
    with open("/proc/self/maps") as maps:
        files = {line.split(maxsplit=5)[5].strip() for line in maps if "/" in line}
    return sorted(file for file in files if pathlib.Path(file).name.startswith(name))


def check(order, library, torch_cpu):
    if order == "after":
        import torch
        api = load(library)
    else:
        api = load(library)
        api.keep_memory()  # as coterie does if nothing else has loaded LibTorch
        import torch
    version = re.match(r"[0-9.]+", torch.__version__)[0]  # without the suffix of the build, such as +cpu
    assert api.description().decode() == f"LibTorch {version}", (api.description(), version)
    assert loaded("libtorch_cpu.so") == [str(torch_cpu)], loaded("libtorch_cpu.so")
    assert [pathlib.Path(file).parent for file in loaded("libc10.so")] == [torch_cpu.parent], loaded("libc10.so")
    assert len(loaded("libgomp")) == 1, loaded("libgomp")
    assert api.has_device(b"cpu") == 1
    assert api.has_device(b"cuda") == int(torch.cuda.is_available())
    check_step(api, torch)
    large = torch.ones(300, 300)
    assert float((large @ large).sum()) == 300.0**3


def main():
    library = sys.argv[1]
    found = subprocess.run(["ldd", library], check=True, capture_output=True, text=True).stdout
    used = re.search(r"libtorch_cpu\.so\S* => (/.*) \(", found)
    assert used, f"the loader does not find what {library} needs:\n{found}"
    torch_cpu = pathlib.Path(used[1]).resolve()
    if len(sys.argv) > 2:
        check(sys.argv[2], library, torch_cpu)
        return 0
    python, environment = sys.executable, dict(os.environ)
    package = torch_cpu.parent.parent
    if (package / "__init__.py").exists():  # the library is part of the package; otherwise both belong to the system
        own = package.parents[3] / "bin" / "python3"  # the environment's python, if PREFIX/lib/python3.N/site-packages is one
        python = str(own) if own.exists() else python
        environment["PYTHONPATH"] = str(package.parent)
    imported = "import torch; print(*{line.split()[-1] for line in open('/proc/self/maps') if '/libtorch_cpu.so' in line})"
    tried = subprocess.run([python, "-c", imported], env=environment, capture_output=True, text=True)
    if tried.returncode != 0:
        print(f"skipped: {python} cannot import torch: {tried.stderr.strip().splitlines()[-1]}")
        return SKIPPED
    if tried.stdout.strip() != str(torch_cpu):
        print(f"skipped: {library} uses {torch_cpu}, and {python} imports a torch with {tried.stdout.strip()}")
        return SKIPPED
    for order in ("before", "after"):
        subprocess.run([python, __file__, library, order], check=True, env=environment)
        print(f"{library} loaded {order} the import of torch: correct")
    return 0


if __name__ == "__main__":
    sys.exit(main())
