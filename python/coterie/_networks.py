"""Networks that run on this interpreter's torch. The library calls these functions (coterie/deep/network_abi.h).

coterie uses them if its own library for networks (libcoterie-deep.so) is missing, or was built with another LibTorch than the imported one. The
classes with networks therefore work with `pip install torch` alone, and on every device that torch has. The results are those of libcoterie-deep.so
up to rounding. Only libcoterie-deep.so gives the same bits for any number of threads.

Nothing here draws random numbers. A function returns 0, or 1 on failure; then error() says what went wrong. A KeyboardInterrupt ends the fit as a
KeyboardInterrupt. Arrays are the caller's memory: they are read and written in place, and not kept.
"""
from __future__ import annotations

import ctypes
import functools
import math

import torch
import torch.nn.functional as functional

from . import _core

ABI = 5
DENSE, CONVOLUTION, TRANSPOSED_CONVOLUTION, RESHAPE, BATCH_NORM, MAX_POOL, AVERAGE, RESIDUAL = range(1, 9)
RELU = 1
TRUNK, HEAD, DECODER = 1, 2, 4
ADAM = 2

NUMBER, COUNT, ADDRESS, REAL, TEXT = ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p, ctypes.c_double, ctypes.c_char_p


class Layer(ctypes.Structure):
    """coterie_layer."""

    _fields_ = [(name, NUMBER) for name in ("kind", "inputs", "outputs", "kernel", "stride", "pad_before", "pad_after", "rows", "columns",
                                            "activation", "bias")]


class OptimizerPlan(ctypes.Structure):
    """coterie_optimizer."""

    _fields_ = [("kind", NUMBER), ("part", NUMBER)] + [(name, REAL) for name in ("learning_rate", "momentum", "weight_decay", "beta1", "beta2", "epsilon")]


def borrowed(address, *shape):
    """The caller's numbers as a tensor; None for a null address."""
    if not address:
        return None
    count = math.prod(shape)
    if count == 0:
        return torch.empty(shape)
    return torch.frombuffer((ctypes.c_float * count).from_address(address), dtype=torch.float32).reshape(shape)


def give(tensor, address):
    flat = tensor.detach().to("cpu", torch.float32).flatten()
    if flat.numel():
        borrowed(address, flat.numel()).copy_(flat)


class Part:
    """An encoder or a decoder."""

    def __init__(self, plans, device):
        self.plans = plans
        self.weights, self.biases, self.running = [], [], []
        for plan in plans:
            i, o, kernel = plan.inputs, plan.outputs, plan.kernel
            shape = {DENSE: (o, i), CONVOLUTION: (o, i, kernel, kernel), TRANSPOSED_CONVOLUTION: (i, o, kernel, kernel), BATCH_NORM: (i,)}.get(plan.kind)
            if shape is None and plan.kind not in (RESHAPE, MAX_POOL, AVERAGE, RESIDUAL):
                raise ValueError("layer of an unknown kind")
            of_norm = plan.kind == BATCH_NORM
            weight = None if shape is None else torch.full(shape, float(of_norm), device=device, requires_grad=True)
            has_bias = shape is not None and (plan.bias or of_norm)
            self.weights.append(weight)
            self.biases.append(torch.zeros(i if of_norm else o, device=device, requires_grad=True) if has_bias else None)
            self.running.append((torch.zeros(i, device=device), torch.ones(i, device=device)) if of_norm else ())

    def tensors(self):
        """Returns (the trained tensors, all tensors including running means and variances)."""
        trained, every = [], []
        for weight, bias, running in zip(self.weights, self.biases, self.running):
            own = [tensor for tensor in (weight, bias) if tensor is not None]
            trained += own
            every += own + list(running)
        return trained, every

    def trained_in_last_layer(self):
        return (self.weights[-1] is not None) + (self.biases[-1] is not None)

    def run(self, x, training, momentum, half, begin=0, end=None):
        end = len(self.plans) if end is None else end
        i = begin
        while i < end:
            plan = self.plans[i]
            if plan.kind == DENSE:
                x = self._product(functional.linear, i, x.flatten(1), half)
            elif plan.kind == CONVOLUTION:
                if plan.pad_before != plan.pad_after:
                    x = functional.pad(x, (plan.pad_before, plan.pad_after) * 2)
                    x = self._product(functional.conv2d, i, x, half, stride=plan.stride)
                else:
                    x = self._product(functional.conv2d, i, x, half, stride=plan.stride, padding=plan.pad_before)
            elif plan.kind == TRANSPOSED_CONVOLUTION:
                # Not in bfloat16: torch 1.13 does not have its gradient.
                x = self._product(functional.conv_transpose2d, i, x, False, stride=plan.stride)
                x = x[:, :, plan.pad_before:x.shape[2] - plan.pad_after, plan.pad_before:x.shape[3] - plan.pad_after]
            elif plan.kind == RESHAPE:
                x = x.reshape(len(x), plan.outputs, plan.rows, plan.columns)
            elif plan.kind == BATCH_NORM:
                # Not functional.batch_norm, which does not accept a batch of one item.
                x = torch.batch_norm(x, self.weights[i], self.biases[i], *self.running[i], training, momentum, 1e-5, False)
            elif plan.kind == MAX_POOL:
                x = functional.max_pool2d(x, plan.kernel, plan.stride, plan.pad_before)
            elif plan.kind == AVERAGE:
                x = x.mean((2, 3), keepdim=True)
            else:
                main = i + 1 + plan.outputs
                shortcut = main + plan.inputs
                if shortcut > end:
                    raise ValueError("a residual layer spans more layers than the network has")
                other = self.run(x, training, momentum, half, main, shortcut)
                x = self.run(x, training, momentum, half, i + 1, main) + other
                i = shortcut - 1
            if plan.activation == RELU:
                x = torch.relu(x)
            i += 1
        return x

    def _product(self, function, i, x, half, **more):
        kind = torch.bfloat16 if half else torch.float32
        bias = self.biases[i]
        return function(x.to(kind), self.weights[i].to(kind), None if bias is None else bias.to(kind), **more)


class Optimizer:
    """Stochastic gradient descent or Adam, with its state."""

    def __init__(self, plan, parameters):
        self.plan, self.parameters, self.steps = plan, parameters, 0
        self.first = [torch.zeros_like(parameter) for parameter in parameters]
        self.second = [torch.zeros_like(parameter) for parameter in parameters] if plan.kind == ADAM else []

    def step(self):
        plan = self.plan
        self.steps += 1
        for p, parameter in enumerate(self.parameters):
            if parameter.grad is None:
                continue
            gradient = parameter.grad.add(parameter, alpha=plan.weight_decay) if plan.weight_decay else parameter.grad
            if plan.kind == ADAM:
                self.first[p].mul_(plan.beta1).add_(gradient, alpha=1 - plan.beta1)
                self.second[p].mul_(plan.beta2).addcmul_(gradient, gradient, value=1 - plan.beta2)
                denominator = self.second[p].sqrt().div_(math.sqrt(1 - plan.beta2**self.steps)).add_(plan.epsilon)
                parameter.addcdiv_(self.first[p], denominator, value=-plan.learning_rate / (1 - plan.beta1**self.steps))
            else:
                self.first[p].mul_(plan.momentum).add_(gradient)
                parameter.sub_(self.first[p], alpha=plan.learning_rate)

    def memory(self):
        return [*self.first, *self.second]

    def size(self):
        return 1 + sum(tensor.numel() for tensor in self.memory())


class Network:
    """coterie_network."""

    def __init__(self, encoder, decoder, shape, device, threads, half):
        self.shape, self.device, self.threads, self.half = shape, torch.device(device), threads, half
        self.encoder, self.decoder = Part(encoder, self.device), Part(decoder, self.device)
        self.decoder_inputs = decoder[0].inputs if decoder else 0
        self.encoder_trained, every = self.encoder.tensors()
        self.decoder_trained, more = self.decoder.tensors()
        self.all = every + more
        self.optimizers = []
        self.end_pass()

    def end_pass(self):
        self.input = self.output = self.loss = None

    def batch(self, items, count, affine, colour, noise):
        channels, rows, columns = self.shape

        def moved(address, *shape):
            return borrowed(address, *shape).to(self.device)

        x = moved(items, count, channels, rows, columns).clone()  # the pass lives longer than the caller's items
        if affine:
            grid = functional.affine_grid(moved(affine, count, 2, 3), list(x.shape), align_corners=False)
            x = functional.grid_sample(x, grid, align_corners=False)  # bilinear, zeros outside
        if colour:
            change = moved(colour, count, channels, 2)
            x = x * change[:, :, 0].reshape(count, channels, 1, 1) + change[:, :, 1].reshape(count, channels, 1, 1)
        if noise:
            x = x + moved(noise, *x.shape)
        return x

    def require_pass(self):
        if self.output is None:
            raise RuntimeError("no forward pass has been made")

    def require_decoder(self):
        if not self.decoder_inputs:
            raise RuntimeError("the network has no decoder")

    def gradient(self, address):
        return borrowed(address, *self.output.shape).to(self.device)


networks: dict[int, Network] = {}
last_error = ctypes.create_string_buffer(4096)
name_of_torch = ctypes.create_string_buffer(f"torch {torch.__version__}".encode())
threads_before = None


def use_threads(threads):
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)


def keep_error(error):
    last_error.value = (str(error) or type(error).__name__).encode()[:4095]
    if isinstance(error, KeyboardInterrupt):
        _core.interrupt()


def description():
    return ctypes.addressof(name_of_torch)


def error():
    return ctypes.addressof(last_error)


def has_device(device):
    device = device.decode()
    if device == "cuda":
        return int(torch.cuda.is_available())
    if device == "mps":
        return int(hasattr(torch.backends, "mps") and torch.backends.mps.is_available())
    return int(device == "cpu")


def keep_memory():
    """Does nothing: torch manages its memory itself."""


def create(encoder, encoder_layers, decoder, decoder_layers, channels, rows, columns, device, threads, half):
    global threads_before
    try:
        plans = [[Layer.from_buffer_copy(layers[i]) for i in range(count)] for layers, count in ((encoder, encoder_layers), (decoder, decoder_layers))]
        network = Network(*plans, (channels, rows, columns), device.decode(), threads, bool(half))
        if not networks:
            threads_before = torch.get_num_threads()
        handle = max(networks, default=0) + 1
        networks[handle] = network
        return handle
    except BaseException as trouble:
        keep_error(trouble)
        return None


def destroy(handle):
    networks.pop(handle, None)
    if not networks:
        use_threads(threads_before)


def parameters(network):
    return len(network.all)


def parameter_size(network, number):
    return network.all[number].numel()


def get_parameter(network, number, to):
    give(network.all[number], to)


def set_parameter(network, number, values):
    tensor = network.all[number]
    with torch.no_grad():
        tensor.copy_(borrowed(values, *tensor.shape))


def forward(network, items, count, affine, colour, noise, training, sharing, output):
    use_threads(network.threads)
    network.end_pass()
    if training == 0:
        with torch.no_grad():
            found = network.encoder.run(network.batch(items, count, affine, colour, noise), False, 0.1, network.half)
        give(found.flatten(1), output)
        return
    network.input = network.batch(items, count, affine, colour, noise)
    if training == 2:
        network.input.requires_grad_(True)
    network.output = network.encoder.run(network.input, True, 0.0 if training == 2 else 0.1, network.half).flatten(1).to(torch.float32)
    give(network.output, output)


def items_per_block(network, items):
    """Returns 0: one process computes the whole pass."""
    return 0


def reconstruct(network, weight, value):
    network.require_pass()
    network.require_decoder()
    made = network.decoder.run(network.output, True, 0.1, network.half).reshape(network.input.shape).to(torch.float32)
    errors = (made - network.input.detach()).square().flatten(1).mean(1)
    value[0] = float(errors.detach().to("cpu", torch.float64).mean())
    loss = errors.mean() * weight
    network.loss = loss if network.loss is None else network.loss + loss


def decode(network, output, count, item):
    network.require_decoder()
    with torch.no_grad():
        give(network.decoder.run(borrowed(output, count, network.decoder_inputs).to(network.device), False, 0.1, network.half), item)


def input_gradient(network, output_gradient, gradient):
    network.require_pass()
    if not network.input.requires_grad:
        raise RuntimeError("the forward pass was not made for the gradient of its input")
    give(torch.autograd.grad([network.output], [network.input], [network.gradient(output_gradient)], retain_graph=True)[0], gradient)


def backward(network, output_gradient):
    network.require_pass()
    roots, gradients = [], []
    if output_gradient:
        roots.append(network.output)
        gradients.append(network.gradient(output_gradient))
    if network.loss is not None:
        roots.append(network.loss)
        gradients.append(torch.ones_like(network.loss))
    if roots:
        torch.autograd.backward(roots, gradients)
    network.end_pass()


def set_optimizers(network, plans, count):
    network.optimizers = []
    head = len(network.encoder_trained) - network.encoder.trained_in_last_layer()
    for i in range(count):
        plan = OptimizerPlan.from_buffer_copy(plans[i])
        trained = network.encoder_trained[:head] if plan.part & TRUNK else []
        trained = trained + (network.encoder_trained[head:] if plan.part & HEAD else [])
        trained = trained + (network.decoder_trained if plan.part & DECODER else [])
        network.optimizers.append(Optimizer(plan, trained))


def step(network):
    with torch.no_grad():
        for optimizer in network.optimizers:
            optimizer.step()
    for parameter in network.encoder_trained + network.decoder_trained:
        parameter.grad = None


def memory_size(network):
    return sum(optimizer.size() for optimizer in network.optimizers)


def get_memory(network, to):
    for optimizer in network.optimizers:
        NUMBER.from_address(to).value = optimizer.steps  # as an integer: float32 is exact only up to 2^24
        to += 4
        for tensor in optimizer.memory():
            give(tensor, to)
            to += 4 * tensor.numel()


def set_memory(network, values):
    for optimizer in network.optimizers:
        optimizer.steps = NUMBER.from_address(values).value
        values += 4
        for tensor in optimizer.memory():
            tensor.copy_(borrowed(values, *tensor.shape))
            values += 4 * tensor.numel()


def of_network(function):
    """The function as the library calls it: with a handle instead of the network."""

    @functools.wraps(function)
    def call(handle, *arguments):
        try:
            return function(networks[handle], *arguments) or 0
        except BaseException as trouble:
            keep_error(trouble)
            return 1

    return call


LAYERS, PLANS = ctypes.POINTER(Layer), ctypes.POINTER(OptimizerPlan)
FUNCTIONS = [  # of coterie_network_api, in its order
    (description, ADDRESS, []),
    (error, ADDRESS, []),
    (has_device, NUMBER, [TEXT]),
    (keep_memory, None, []),
    (create, ADDRESS, [LAYERS, NUMBER, LAYERS, NUMBER, NUMBER, NUMBER, NUMBER, TEXT, NUMBER, NUMBER]),
    (destroy, None, [ADDRESS]),
    (of_network(parameters), NUMBER, [ADDRESS]),
    (of_network(parameter_size), COUNT, [ADDRESS, NUMBER]),
    (of_network(get_parameter), NUMBER, [ADDRESS, NUMBER, ADDRESS]),
    (of_network(set_parameter), NUMBER, [ADDRESS, NUMBER, ADDRESS]),
    (of_network(forward), NUMBER, [ADDRESS, ADDRESS, COUNT, ADDRESS, ADDRESS, ADDRESS, NUMBER, ADDRESS, ADDRESS]),
    (of_network(items_per_block), COUNT, [ADDRESS, COUNT]),
    (of_network(reconstruct), NUMBER, [ADDRESS, REAL, ctypes.POINTER(REAL)]),
    (of_network(decode), NUMBER, [ADDRESS, ADDRESS, COUNT, ADDRESS]),
    (of_network(input_gradient), NUMBER, [ADDRESS, ADDRESS, ADDRESS]),
    (of_network(backward), NUMBER, [ADDRESS, ADDRESS]),
    (of_network(set_optimizers), NUMBER, [ADDRESS, PLANS, NUMBER]),
    (of_network(step), NUMBER, [ADDRESS]),
    (of_network(memory_size), COUNT, [ADDRESS]),
    (of_network(get_memory), NUMBER, [ADDRESS, ADDRESS]),
    (of_network(set_memory), NUMBER, [ADDRESS, ADDRESS]),
]


class Api(ctypes.Structure):
    """coterie_network_api."""

    _fields_ = [("abi", NUMBER)] + [(function.__name__, ctypes.CFUNCTYPE(result, *arguments)) for function, result, arguments in FUNCTIONS]


api = Api(ABI, *(ctypes.CFUNCTYPE(result, *arguments)(function) for function, result, arguments in FUNCTIONS))


def functions(abi):
    """The address of the table of functions; 0 if its ABI is not `abi`."""
    return ctypes.addressof(api) if abi == ABI else 0
