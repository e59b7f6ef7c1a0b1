"""The bus between processes, over an MQTT 3.1.1 broker. The only package that uses aiomqtt."""
