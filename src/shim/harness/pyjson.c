#include "shim/harness/pyjson.h"

static PyObject *from_number(double number)
{
    return number == (double)(long long)number ? PyLong_FromLongLong((long long)number)
                                               : PyFloat_FromDouble(number);
}

static PyObject *from_list(const cJSON *node)
{
    hc_autopy *list = PyList_New(0);
    const cJSON *item;
    cJSON_ArrayForEach(item, node)
    {
        hc_autopy *value = list ? hc_py_from_json(item) : NULL;
        if (!value || PyList_Append(list, value) < 0)
            return NULL;
    }
    return hc_py_take(&list);
}

static PyObject *from_object(const cJSON *node)
{
    hc_autopy *dict = PyDict_New();
    const cJSON *item;
    cJSON_ArrayForEach(item, node)
    {
        hc_autopy *value = dict ? hc_py_from_json(item) : NULL;
        if (!value || PyDict_SetItemString(dict, item->string, value) < 0)
            return NULL;
    }
    return hc_py_take(&dict);
}

PyObject *hc_py_from_json(const cJSON *node)
{
    if (!node || cJSON_IsObject(node))
        return from_object(node);
    if (cJSON_IsArray(node))
        return from_list(node);
    if (cJSON_IsString(node))
        return PyUnicode_FromString(node->valuestring);
    if (cJSON_IsNumber(node))
        return from_number(node->valuedouble);
    if (cJSON_IsBool(node))
        return PyBool_FromLong(cJSON_IsTrue(node));
    return Py_NewRef(Py_None);
}
