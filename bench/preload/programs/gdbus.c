/* SPDX-License-Identifier: MIT */
/*
 * gdbus call SECONDS: a D-Bus call to a service in another process and its answer, by GDBus over
 * the session's bus. An operation is a round trip. In each process GDBus has a thread that reads
 * and writes the messages.
 */
#include "meter.h"
#include "service.h"

#include <gio/gio.h>

#define INTERFACE "org.example.Bench"
#define PATH      "/bench"

static const char description[] =
	"<node><interface name='" INTERFACE "'><method name='Add'>"
	"<arg type='i' direction='in'/><arg type='i' direction='out'/>"
	"</method></interface></node>";

static void add(GDBusConnection *c, const char *sender, const char *path,
		const char *interface, const char *method, GVariant *words,
		GDBusMethodInvocation *call, void *unused)
{
	int word;

	(void)c, (void)sender, (void)path, (void)interface, (void)method, (void)unused;
	g_variant_get(words, "(i)", &word);
	g_dbus_method_invocation_return_value(call, g_variant_new("(i)", word + 1));
}

static const GDBusInterfaceVTable calls = { .method_call = add };

static int serve(const char *path, int where)
{
	GDBusConnection *c = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
	GDBusNodeInfo *node = g_dbus_node_info_new_for_xml(description, NULL);

	if (!c ||
	    !g_dbus_connection_register_object(c, path, node->interfaces[0], &calls, NULL,
					       NULL, NULL) ||
	    service_ready(where, g_dbus_connection_get_unique_name(c)))
		return EXIT_FAILURE;
	g_main_loop_run(g_main_loop_new(NULL, FALSE));
	return EXIT_FAILURE;
}

static bool turn(GDBusConnection *c, const char *service)
{
	int word = 0;
	GVariant *v = g_dbus_connection_call_sync(
		c, service, PATH, INTERFACE, "Add", g_variant_new("(i)", word),
		G_VARIANT_TYPE("(i)"), G_DBUS_CALL_FLAGS_NONE, -1, NULL, NULL);

	if (!v)
		return false;
	g_variant_get(v, "(i)", &word);
	g_variant_unref(v);
	return word == 1;
}

static int measure(const char *service, double seconds)
{
	GDBusConnection *c = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
	struct meter m;
	bool right;

	if (!c)
		return EXIT_FAILURE;
	meter_start(&m, seconds, 16);
	do
		right = turn(c, service);
	while (right && meter_on(&m));
	return right ? meter_show(m.operations, m.seconds) : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	double seconds = meter_seconds(argc, argv);

	if (seconds > 0 && !strcmp(argv[1], "call"))
		return service_measure(serve, PATH, measure, seconds);
	return meter_usage("call");
}
