"""Prints the name of each device of the installed driver, which is opened without a loader. Takes modules to import before."""

import ctypes
import importlib
import sys

for module in sys.argv[1:]:
    importlib.import_module(module)

import dmlops_lavapipe

SUCCESS = 0
APPLICATION_INFO, INSTANCE_CREATE_INFO = 0, 1
NAME_OFFSET, PROPERTIES_SIZE = 20, 4096  # of VkPhysicalDeviceProperties: five integers precede the name


class ApplicationInfo(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("application_name", ctypes.c_char_p),
        ("application_version", ctypes.c_uint32),
        ("engine_name", ctypes.c_char_p),
        ("engine_version", ctypes.c_uint32),
        ("api_version", ctypes.c_uint32),
    ]


class InstanceCreateInfo(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("application", ctypes.POINTER(ApplicationInfo)),
        ("layer_count", ctypes.c_uint32),
        ("layers", ctypes.c_void_p),
        ("extension_count", ctypes.c_uint32),
        ("extensions", ctypes.c_void_p),
    ]


driver = ctypes.CDLL(str(dmlops_lavapipe.driver_path()))
address = driver.vk_icdGetInstanceProcAddr
address.argtypes, address.restype = [ctypes.c_void_p, ctypes.c_char_p], ctypes.c_void_p
instance = ctypes.c_void_p()


def function(name, result, *parameters):
    return ctypes.CFUNCTYPE(result, *parameters)(address(instance, name))


version = ctypes.c_uint32(7)
assert driver.vk_icdNegotiateLoaderICDInterfaceVersion(ctypes.byref(version)) == SUCCESS
application = ApplicationInfo(APPLICATION_INFO, api_version=1 << 22 | 2 << 12)
info = InstanceCreateInfo(INSTANCE_CREATE_INFO, application=ctypes.pointer(application))
create = function(b"vkCreateInstance", ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
assert create(ctypes.byref(info), None, ctypes.byref(instance)) == SUCCESS
count, devices = ctypes.c_uint32(8), (ctypes.c_void_p * 8)()
enumerate_devices = function(b"vkEnumeratePhysicalDevices", ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
assert enumerate_devices(instance, ctypes.byref(count), devices) == SUCCESS
get_properties = function(b"vkGetPhysicalDeviceProperties", None, ctypes.c_void_p, ctypes.c_void_p)
for device in devices[: count.value]:
    properties = ctypes.create_string_buffer(PROPERTIES_SIZE)
    get_properties(device, properties)
    print(ctypes.string_at(ctypes.addressof(properties) + NAME_OFFSET).decode())
function(b"vkDestroyInstance", None, ctypes.c_void_p, ctypes.c_void_p)(instance, None)
